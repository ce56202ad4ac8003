import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { loadConfig } from '../../src/config/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { createAudit } from '../../src/platform/audit/index.ts'
import { createInstallationSettings } from '../../src/platform/installation-settings/index.ts'
import { createSealing } from '../../src/platform/sealing/index.ts'
import { newMasterKey } from '../../src/platform/sealing/key-file.ts'
import { ringOf } from '../../src/platform/sealing/key-ring.ts'
import { useApp } from '../support/app.ts'
import { testConfig } from '../support/config.ts'

const app = await useApp()
const ACTOR = { kind: 'operator', id: 'ada' } as const
const MAIL = { smtp_url: 'smtps://ada:topsecret@smtp.example.com', from: 'gate@example.com' }
const GITHUB = { client_id: 'abc', client_secret: 'topsecret' }

const settingsWith = (
  env: Record<string, string> = {},
  db = app.db,
  sealing = app.platform.sealing,
) =>
  createInstallationSettings({
    ...{ clock: app.clock, db, sealing, audit: createAudit({ db, clock: app.clock }) },
    config: testConfig({}, env),
  })

test('Stored settings take effect in every process at once, sealed, until they are removed', async () => {
  const settings = settingsWith()
  const beside = openDatabase({ dataDir: dirname(app.db.file), synchronous: 'full' })
  const other = settingsWith({}, beside)
  expect(other.current().mail.smtpUrl).toBeUndefined()
  await settings.put(ACTOR, 'mail', MAIL)
  await settings.put(ACTOR, 'gate.providers.github', GITHUB)
  await new Promise(setImmediate)
  for (const one of [settings, other]) {
    expect(one.current().mail).toEqual({ smtpUrl: `${MAIL.smtp_url}`, from: MAIL.from })
    expect(one.current().gate.providers.github.clientSecret).toBe('topsecret')
    expect(one.sourceOf('mail')).toBe('database')
    expect(one.sourceOf('gate.providers.google')).toBeUndefined()
  }
  const rows = JSON.stringify([
    ...app.db.client.query('SELECT * FROM installation_settings').all(),
    ...app.db.client.query('SELECT * FROM audit_log').all(),
  ])
  expect(rows).toContain('installation_settings.changed')
  expect(rows).not.toMatch(/topsecret|smtp\.example/)
  await other.remove(ACTOR, 'mail')
  await new Promise(setImmediate)
  expect(settings.current().mail.smtpUrl).toBeUndefined()
  beside.close()
})

test('A table that the environment sets wins as a whole, and can not be set here', async () => {
  await settingsWith().put(ACTOR, 'gate.providers.github', {
    ...GITHUB,
    base_url: 'https://git.example',
  })
  const env = {
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: 'given',
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: 'given',
  }
  const settings = settingsWith(env)
  const { github } = settings.current().gate.providers
  expect(github).toMatchObject({ clientId: 'given', baseUrl: undefined })
  expect(settings.sourceOf('gate.providers.github')).toBe('configuration')
  const refused = { kind: 'conflict' }
  await expect(settings.put(ACTOR, 'gate.providers.github', GITHUB)).rejects.toMatchObject(refused)
  await expect(settings.remove(ACTOR, 'gate.providers.github')).rejects.toMatchObject(refused)
})

test.each([
  ['mail', { smtp_url: 'http://x', from: 'nobody' }, ['smtp_url', 'from']],
  ['mail', { smtp_url: MAIL.smtp_url }, ['from']],
  ['mail', {}, ['smtp_url', 'from']],
  [
    'gate.providers.github',
    { client_id: 'a\nb', token_url: '/x' },
    ['client_id', 'token_url', 'client_secret'],
  ],
  ['gate.providers.github', { ...GITHUB, team_id: 'x' }, ['team_id']],
  ['gate.providers.github', { ...GITHUB, colour: 'red' }, ['colour']],
  ['gate.providers.apple', GITHUB, ['team_id', 'key_id', 'private_key']],
] as const)('[%s] %j is refused at %j', async (table, values, fields) => {
  const before = settingsWith().current()
  const refusal = settingsWith().put(ACTOR, table, values)
  const error = await refusal.catch((thrown) => thrown)
  expect(error.kind).toBe('invalid')
  expect(error.fieldErrors.map((one: { field: string }) => one.field)).toEqual([...fields])
  expect(settingsWith().current()).toEqual(before)
})

test('Values sealed with another key or invalid by now are left out and reported', async () => {
  await settingsWith().put(ACTOR, 'mail', MAIL)
  const other = settingsWith({}, app.db, createSealing(ringOf(newMasterKey())))
  expect(other.current().mail.smtpUrl).toBeUndefined()
  expect(other.sourceOf('mail')).toBe('unusable')
  expect(settingsWith().sourceOf('mail')).toBe('database')
})

test('The origins name the database for stored tables alone', async () => {
  const settings = settingsWith()
  await settings.put(ACTOR, 'mail', MAIL)
  const loaded = loadConfig({ flags: {}, env: {}, cwd: '/', readFile: () => '' })
  if (!loaded.ok) throw new Error('the configuration is wrong')
  const origins = settings.originsWith(loaded.origin)
  expect(origins.get('mail.from')?.source).toBe('database')
  expect(origins.get('log.level')?.source).toBe('default')
})
