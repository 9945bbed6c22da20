"""Problems whose answer is known: is the estimate right, and does its interval hold the truth?"""
