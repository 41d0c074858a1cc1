"""Figures as all pages show them."""

from django import template

from agents.services import figures

register = template.Library()
register.filter("characters", figures.characters)
register.filter("grouped", figures.grouped)
