"""Which submissions of a class are alike beyond what the starter code, the exercise and the rest of
the class explain. It sorts pairs and says why; it decides nothing, and nothing leaves the machine.
"""
