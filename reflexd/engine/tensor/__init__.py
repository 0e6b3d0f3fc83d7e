"""The half of the engine that knows tensors: the only package of reflex that imports torch.

What Metal has to be told before torch loads is told here, because a package comes before its modules.
"""

from __future__ import annotations

import os
import sys

if sys.platform == "darwin":
    # The threaded weight loader hangs on Metal; and Metal may allocate 1.7 times what it recommends, into swap and
    # beyond. The two ratios are only valid as a pair, so a person's own pair is left alone as a whole.
    os.environ.setdefault("HF_DEACTIVATE_ASYNC_LOAD", "1")
    if not {"PYTORCH_MPS_HIGH_WATERMARK_RATIO", "PYTORCH_MPS_LOW_WATERMARK_RATIO"} & set(os.environ):
        os.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] = "0.7"
        os.environ["PYTORCH_MPS_LOW_WATERMARK_RATIO"] = "0.6"
