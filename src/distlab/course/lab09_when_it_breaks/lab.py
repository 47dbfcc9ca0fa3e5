"""The lab's name, which its exercises are filed under."""

LAB = "09-when-it-breaks"
