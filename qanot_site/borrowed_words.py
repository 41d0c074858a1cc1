"""Words of Django and Unfold that their own catalogues lack in a language of ours.

Unfold, the admin's look, brings no catalogues, and Django's Uzbek ones stop at an older version,
so that pages of ours would be half English. Named here, `makemessages` gathers these words into
our catalogues, which go before theirs. An entry is only filled where theirs has none: what
Django says in Russian, Turkish and Polish stays what it is. Nothing needs to import this module.
"""

from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext_lazy

# As their sources write them, blanks and straight quotes included.
OF_LISTS = (
    _(" By %(filter_title)s "),
    _("0 of %(cnt)s selected"),
    _("Apply Filters"),
    _("Clear all filters"),
    _("Clear selection"),
    _("Click here to select the objects across all pages"),
    _("Filters"),
    _("Hide counts"),
    _("Items must be selected in order to perform actions on them. No items have been changed."),
    _("Loading more results..."),
    _("More actions"),
    _("Next"),
    _("No action selected."),
    _("No results found"),
    _("No results matching your query"),
    _("Previous"),
    _("Reset filters"),
    _("Run"),
    _("Select %s to change"),
    _("Select %s to view"),
    _("Select action"),
    _("Select action to run"),
    _("Select all %(total_count)s %(module_name)s"),
    _("Select all objects on this page for an action"),
    _("Select all rows"),
    _("Select record"),
    _("Select this object for an action - {}"),
    _("Show all"),
    _("Show counts"),
    _("Sorting priority: %(priority_number)s"),
    _("This page yielded into no results. Create a new item or reset your filters."),
    _("Toggle sorting"),
    _("Type to search"),
    _("%(full_result_count)s total"),
)
OF_FORMS = (
    _("%(name)s with ID “%(key)s” doesn’t exist. Perhaps it was deleted?"),
    _("Add another %(model)s"),
    _("Add row"),
    _("Change selected %(model)s"),
    _("Choose file to upload"),
    _("Click to cancel"),
    _("Date"),
    _("Delete selected %(model)s"),
    _("Error:"),
    _("Hold down “Control”, or “Command” on a Mac, to select more than one."),
    _("None available"),
    _("Save and add another"),
    _("Save and continue editing"),
    _("Save and view"),
    _("Save as new"),
    _("Select value"),
    _("The {name} “{obj}” was added successfully."),
    _("The {name} “{obj}” was added successfully. You may add another {name} below."),
    _("The {name} “{obj}” was changed successfully. You may add another {name} below."),
    _("The {name} “{obj}” was changed successfully. You may edit it again below."),
    _("This item will be deleted."),
    _("View selected %(model)s"),
    _("You may edit it again below."),
)
OF_DELETING = (
    _(
        'Are you sure you want to delete the %(object_name)s "%(escaped_object)s"? All of the '
        "following related items will be deleted:"
    ),
    _(
        "Are you sure you want to delete the selected %(objects_name)s? All of the following "
        "objects and their related items will be deleted:"
    ),
    _("Delete multiple objects"),
    _(
        "Deleting the %(object_name)s '%(escaped_object)s' would require deleting the following "
        "protected related objects:"
    ),
    _(
        "Deleting the %(object_name)s '%(escaped_object)s' would result in deleting related "
        "objects, but your account doesn't have permission to delete the following types of "
        "objects:"
    ),
    _(
        "Deleting the selected %(objects_name)s would require deleting the following protected "
        "related objects:"
    ),
    _(
        "Deleting the selected %(objects_name)s would result in deleting related objects, but "
        "your account doesn't have permission to delete the following types of objects:"
    ),
    _("No, take me back"),
    _("Objects"),
    _("Yes, I’m sure"),
)
OF_HISTORY = (
    _("Added {name} “{object}”."),
    _("Added."),
    _("Change history: %s"),
    _("Changed {fields} for {name} “{object}”."),
    _("Changed {fields}."),
    _("Date/time"),
    _("Deleted {name} “{object}”."),
    _("History"),
    _("No fields changed."),
    _("This object doesn’t have a change history. It probably wasn’t added via this admin site."),
    _("Unknown content"),
)
OF_THE_FRAME = (
    _("Dark"),
    _("False"),
    _("Filter navigation items"),
    _("General"),
    _("Go back"),
    _("Home"),
    _("Light"),
    _("Models in the %(name)s application"),
    _("Page not found"),
    _("Return to site"),
    _("Search apps and models..."),
    _("Site administration"),
    _("Skip to main content"),
    _("True"),
    _("We’re sorry, but the requested page could not be found."),
    _("Welcome back to"),
    _("You don’t have permission to view or edit anything."),
)
OF_USERS = (
    _("A user with that username already exists."),
    _("After you've created a user, you’ll be able to edit more user options."),
    _("Designates that this user has all permissions without explicitly assigning them."),
    _(
        "Designates whether this user should be treated as active. Unselect this instead of "
        "deleting accounts."
    ),
    _("Designates whether the user can log into this admin site."),
    _("Disabled"),
    _("Enabled"),
    _("Enter a new password for the user <strong>%(username)s</strong>."),
    _(
        "Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ "
        "characters."
    ),
    _("Old password"),
    _("Password change"),
    _("Password change successful"),
    _("Password-based authentication"),
    _(
        "Please enter your old password, for security’s sake, and then enter your new password "
        "twice so we can verify you typed it in correctly."
    ),
    _(
        "Raw passwords are not stored, so there is no way to see this user’s password, but you "
        'can change the password using <a href="{}" class="text-primary-600 '
        'dark:text-primary-500">this form</a>.'
    ),
    _("Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only."),
    _("Set password"),
    _("The password is too similar to the %(verbose_name)s."),
    _("This password is entirely numeric."),
    _("This password is too common."),
    _("Toggle password visibility"),
    _(
        "Whether the user will be able to authenticate using a password or not. If disabled, they "
        "may still be able to authenticate using other backends, such as Single Sign-On or LDAP."
    ),
    _("Your password can’t be a commonly used password."),
    _("Your password can’t be entirely numeric."),
    _("Your password can’t be too similar to your other personal information."),
    _("Your password was changed."),
    _("active"),
    _("date joined"),
    _("email address"),
    _("first name"),
    _("group"),
    _("groups"),
    _("last name"),
    _("permission"),
    _("permissions"),
    _("staff status"),
    _("superuser status"),
    _("user permissions"),
    _("username"),
)
# The planner's tables (django-celery-beat), as the menu names them.
OF_THE_PLANNER = (
    _("Periodic Tasks"),
    _("clocked"),
    _("crontab"),
    _("crontabs"),
    _("interval"),
    _("intervals"),
    _("periodic task"),
    _("periodic tasks"),
    _("solar event"),
    _("solar events"),
)
WITH_A_COUNT = (
    ngettext_lazy("%(counter)s result", "%(counter)s results", "counter"),
    ngettext_lazy("%(total_count)s selected", "All %(total_count)s selected", "total_count"),
    ngettext_lazy(
        "%(count)s %(name)s was changed successfully.",
        "%(count)s %(name)s were changed successfully.",
        "count",
    ),
    ngettext_lazy("Please correct the error below.", "Please correct the errors below."),
    ngettext_lazy(
        "Please submit at most %(num)d form.", "Please submit at most %(num)d forms.", "num"
    ),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
    ngettext_lazy(
        "Your password must contain at least %(min_length)d character.",
        "Your password must contain at least %(min_length)d characters.",
        "min_length",
    ),
)
