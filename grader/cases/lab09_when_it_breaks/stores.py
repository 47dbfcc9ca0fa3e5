"""What kinds of stores the workers of a case meet on."""

HASH, TCP, SLOW = "HashStore", "TCPStore", "slow HashStore"
