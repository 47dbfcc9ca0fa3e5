"""Inputs of each student's own, visible and hidden, made of the course's secret and the student's
name: `variants: on` in the policy.
"""
