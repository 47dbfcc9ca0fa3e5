"""What kinds of stores the workers of a case meet on."""

HASH, TCP, SLOW = "HashStore", "TCPStore", "slow HashStore"
SLOW_WRITERS = "HashStore to which every second worker writes slowly"
