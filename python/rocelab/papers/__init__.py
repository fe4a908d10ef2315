"""Figures of published papers, with their claims: ``rocelab reproduce``.

A paper is a module here: its runs, panels and claims. All else is common to them.
"""
