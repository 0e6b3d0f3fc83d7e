"""Every value that crosses a module.

All are frozen; all closed sets are tagged unions, so that `match` sees a missing case.
msgspec checks types when it decodes, not when a constructor is called: whatever comes
from outside is decoded, never constructed field by field from a dict.
"""

from reflexd.types.agents import *
from reflexd.types.calls import *
from reflexd.types.deciding import *
from reflexd.types.events import *
from reflexd.types.facts import *
from reflexd.types.installing import *
from reflexd.types.judging import *
from reflexd.types.systemone import *
