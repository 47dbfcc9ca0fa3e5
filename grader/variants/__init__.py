"""Inputs of each student's own, visible and hidden, made from the course's secret and the student's
name, where the policy says `variants: on`.
"""
