# SPDX-License-Identifier: MIT
"""The drivers of examples/found: each is one program that uses a package of others, and its
first comment says what package that is and what `redrace check` must say of it. The fields are

Package   name and version
Is        what the package is
Lost      what its user loses, or Held: what the package keeps
Kind      how bad that is, one of KINDS; only with Lost
Fixed     the version in which that is fixed, or "not yet"; only with Lost
Link      where it was published, and "new" if it was found here
Expected  what is found, as `found` of the JSON, and the exit code: "not serializable, 1"
Options   options of check, beside the clients
Clients   names of clients: each runs the program with its name as the argument
Install   npm:NAME@VERSION or deb:NAME=VERSION, the package itself first
Remark    anything else, shown below the table

A line that begins with two blanks goes on with the field above."""
import json
import os
import re
import shlex
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, 'build', 'found')
LINES_MAX = 25
RUN = {'js': ['node'], 'py': ['/usr/bin/python3'], 'php': ['php'], 'rb': ['ruby'], 'go': []}
NEEDED = 'Package', 'Is', 'Link', 'Expected', 'Install'
# The worst first, with the headline of docs/found.md.
KINDS = {'access': 'Access that stays, and tries that are not counted',
         'twice': 'Work that is done twice',
         'data': 'Data that are lost or stale',
         'limit': 'Limits and blocks that do not hold',
         'leftover': 'Data that stay behind'}
KNOWN = (*NEEDED, 'Kind', 'Lost', 'Held', 'Fixed', 'Options', 'Clients', 'Remark')


class Driver:
    def __init__(self, file):
        self.file = os.path.join('examples', 'found', file)
        self.name, self.language = os.path.splitext(file)
        self.language = self.language[1:]
        with open(os.path.join(ROOT, self.file), encoding='utf-8') as opened:
            header, self.code = split_header(opened.read().splitlines())
        self.fields = read_fields(header)
        self.complain_of_header()
        self.verdict, code = self.fields['Expected'].rsplit(', ', 1)
        self.code_expected = int(code)

    def complain_of_header(self):
        fields = self.fields
        wrong = [f'no {name}' for name in NEEDED if not fields.get(name)]
        wrong += [f'unknown field {name}' for name in fields if name not in KNOWN]
        if ('Lost' in fields) == ('Held' in fields):
            wrong.append('either Lost or Held')
        if ('Lost' in fields) != ('Fixed' in fields):
            wrong.append('Fixed goes with Lost')
        if ('Lost' in fields) != (fields.get('Kind') in KINDS):
            wrong.append('Kind goes with Lost, and is one of ' + ', '.join(KINDS))
        if not re.fullmatch(r'.+, \d+', fields.get('Expected', '')):
            wrong.append('Expected is a verdict and an exit code')
        if len(self.code) > LINES_MAX:
            wrong.append(f'{len(self.code)} lines of code, more than {LINES_MAX}')
        if wrong:
            raise SystemExit(f'{self.file}: ' + '; '.join(wrong))

    def beside(self, suffix):
        return f'examples/found/{self.name}{suffix}'

    def needs(self, kind):
        """Pairs of a package's name and its version, of what comes from npm or Debian."""
        separator = {'npm': '@', 'deb': '='}[kind]
        tokens = self.fields['Install'].split()
        return [tuple(token[len(kind) + 1:].rsplit(separator, 1)) for token in tokens
                if token.startswith(kind + ':')]

    def lacks(self):
        """What is not installed, or in another version; None if all is there."""
        for kind, there in ('npm', self.npm_version), ('deb', deb_version):
            for package, version in self.needs(kind):
                found = there(package)
                if not found:
                    return f'{package} is not installed'
                if found != version:
                    return f'{package} is {found}, not {version}'
        return None

    def npm_version(self, package):
        path = os.path.join(ROOT, self.node_path(), package, 'package.json')
        if not os.path.exists(path):
            return None
        with open(path, encoding='utf-8') as opened:
            return json.load(opened)['version']

    def node_path(self):
        return f'build/found/{self.name}/node_modules'

    def command(self):
        if self.language == 'go':
            return [f'build/found/{self.name}/{self.name}']
        return [*RUN[self.language], self.file]

    def check_arguments(self):
        """What stands behind `redrace check`."""
        arguments = shlex.split(self.fields.get('Options', ''))
        program = self.command()
        for client in self.fields.get('Clients', '').split():
            arguments += ['--client', f'{client}={shlex.join([*program, client])}']
        return arguments if 'Clients' in self.fields else [*arguments, '--', *program]

    def environment(self):
        """In which it is checked, without what another check has kept."""
        return {**os.environ, 'NODE_PATH': self.node_path(), 'PYTHONHASHSEED': '0',
                'XDG_CACHE_HOME': '/dev/null'}


def split_header(lines):
    """The text of the first comment, and the lines of code behind it."""
    header = []
    for i, line in enumerate(lines):
        match = re.match(r'(?://|#)(?!!) ?(.*)|<\?php$|#!', line)
        if not match:
            return header, [line for line in lines[i:] if line.strip()]
        header.append(match.group(1) or '')
    return header, []


def read_fields(header):
    fields, name = {}, None
    for line in header:
        match = re.match(r'([A-Z][a-z]+): +(.*)', line)
        if match:
            name = match.group(1)
            fields[name] = match.group(2).strip()
        elif name and line.startswith('  '):
            fields[name] += ' ' + line.strip()
    return fields


def deb_version(package):
    """The version of a package of Debian without its epoch and revision, or None."""
    result = subprocess.run(['dpkg-query', '-W', '-f', '${db:Status-Status} ${Version}', package],
                            capture_output=True, text=True, check=False)
    status, _, version = result.stdout.partition(' ')
    if status != 'installed':
        return None
    return re.sub(r'^\d+:|[-+~].*$', '', version)


def all_drivers(names=()):
    found = [Driver(file) for file in sorted(os.listdir(HERE))
             if os.path.splitext(file)[1][1:] in RUN and file != 'drivers.py']
    unknown = set(names) - {driver.name for driver in found}
    if unknown:
        raise SystemExit('no such driver: ' + ', '.join(sorted(unknown)))
    return [driver for driver in found if not names or driver.name in names]
