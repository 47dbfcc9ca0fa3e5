{%- extends 'nbgrader/manage_assignments.tpl' -%}

{%- block sidebar -%}
{{ super() }}
<li role="presentation"><a href="{{ base_url }}/formgrader/reports">Reports on the class</a></li>
{%- endblock -%}
