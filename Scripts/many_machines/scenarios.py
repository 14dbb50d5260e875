"""What happens to a fleet in each trial. Each is a round: load, a fault at a random instant, and its end."""
from . import of_hosts, of_servers, of_the_way, storm
from .plan import ALL

__all__ = ["ALL", "of_hosts", "of_servers", "of_the_way", "storm"]
