import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { PROVIDERS } from '../../../src/config/index.ts'
import { english } from '../../../src/engines/gate/sign-in/flows/ui/words-en.ts'
import { createMailTemplates } from '../../../src/engines/gate/sign-in/mail-templates/index.ts'
import { Node } from '../../../src/engines/gate/sign-in/model.ts'
import { providers } from '../../../src/engines/gate/sign-in/social/providers/index.ts'
import { statusOf } from '../../../src/http/errors.ts'
import type { ErrorKind } from '../../../src/platform/errors.ts'
import { HOUR } from '../../engines/gate/fixture.ts'
import { ADA } from '../../engines/gate/sign-in/flows/acts.ts'
import { useFlows } from '../../engines/gate/sign-in/flows/code-fixture.ts'
import { node } from '../../engines/gate/sign-in/flows/fixture.ts'
import { testConfig } from '../../support/config.ts'
import { openPage, plain } from '../../support/page.ts'

/** What docs/sign-in.md looks up in tables is what the server answers. */

const page = await openPage('sign-in.md')
const { newTenant } = await useFlows()

test('The refusals of docs/sign-in.md are all that there are, with their status', async () => {
  const source = await Bun.file('src/engines/gate/sign-in/flows/failure.ts').text()
  const [, kinds = ''] = /KINDS: Record<RefusalId, ErrorKind> = \{([^}]*)\}/.exec(source) ?? []
  const statuses = [...kinds.matchAll(/(\w+): '(\w+)'/g)].map(([, id, kind]) => [
    id as string,
    `${statusOf({ kind: kind as ErrorKind })}`,
  ])
  const rows = page.table('`id`', 'Status', 'When').map(([id, status]) => [plain(id), `${status}`])
  const elsewhere = ['browser_location_change_required', '422']
  expect(rows.toSorted()).toEqual([...statuses, elsewhere].toSorted())
})

test('The other tables of docs/sign-in.md have every message, provider, email, state, action and node type', async () => {
  const names = (...head: string[]) =>
    page
      .table(...head)
      .map(([name]) => plain(name))
      .toSorted()
  let source = ''
  for await (const file of new Glob('src/engines/gate/**/*.ts').scan())
    if (!file.includes('/ui/words-')) source += await Bun.file(file).text()
  const said = Object.entries(english.texts).filter(([id]) => source.includes(id))
  const shown = page.table('Id', 'Says').map(([id, text]) => [id, text] as [string, string])
  expect(shown).toEqual(said)

  const rows = page.table('Provider', 'Register at', 'Asked for')
  const scopes = rows.map(([name, , asked]) => [plain(name), plain(asked)])
  expect(scopes).toEqual(PROVIDERS.map((name) => [name, providers[name].scopes]))
  const never = rows.filter(([, , , trusted]) => trusted === 'never').map(([name]) => plain(name))
  expect(never).toEqual(['facebook', 'slack', 'spotify'])

  const about = { tenantName: 'Acme', code: '', link: 'https://gatehouse.example.org/' }
  const given = { ...about, lifetimeMs: 0, linkLifetimeMs: 0, newAddress: ADA, isOn: true }
  const subjects = Object.values(createMailTemplates('en')).map((write) => write(given).subject)
  expect(names('Mail', 'Goes to', 'When')).toEqual(subjects.toSorted())
  const schema = await Bun.file('src/platform/schema.ts').text()
  const states = /enum: \[('kept'.*)\]/.exec(schema)?.[1]?.match(/\w+/g) ?? []
  const shownStates = states.filter((state) => state !== 'leased')
  expect(names('`state`', 'Meaning')).toEqual(shownStates.toSorted())
  const model = await Bun.file('src/engines/gate/sign-in/model.ts').text()
  const actions = model.match(/(?<=action: t\.Literal\(')\w+/g) ?? []
  expect(names('`action`', 'With', 'Do')).toEqual(actions.toSorted())
  const types = Node.properties.type as unknown as { enum: string[] }
  expect(names('`type`', 'Render as')).toEqual(types.enum.toSorted())

  const { gate, limits } = testConfig()
  const { flowLifetimeMs, codeLifetimeMs, sessionLifetimeMs } = gate
  expect([flowLifetimeMs, codeLifetimeMs, sessionLifetimeMs]).toEqual([HOUR, HOUR / 4, 24 * HOUR])
  const section = page.text.slice(page.text.indexOf('## Limits'), page.text.indexOf('## Routes'))
  const perName = limits.signInsPerIdentifierPerMinute
  for (const [value, setting] of [
    ['1 hour', '[gate] flow_lifetime'],
    ['15 minutes', '[gate] code_lifetime'],
    ['24 h', '[gate] session_lifetime'],
    [`${limits.signInsPerMinute} a minute`, '[limits] sign_ins_per_minute'],
    [`${perName} a minute`, '[limits] sign_ins_per_identifier_per_minute'],
  ])
    expect(section).toContain(`${value} (\`${setting}\`)`)
  expect(page.text).toContain(`at least ${gate.password.minLength} characters`)
})

test('The flow of docs/sign-in.md is what a start answers', async () => {
  const flows = await newTenant()
  const flow = await flows.start('login', { 'x-return-to': 'https://app.example.com/back?state=1' })
  const shown = JSON.parse(page.block('json', '"issued_at"'))
  expect(Object.keys(shown)).toEqual(Object.keys(flow))
  expect(shown.ui.nodes).toEqual([node(flow, 'password')])
  for (const name of ['type', 'state', 'refresh', 'requested_aal'])
    expect([name, shown[name]]).toEqual([name, flow[name]])
  expect(shown.ui.action).toBe(shown.hosted_url)
})
