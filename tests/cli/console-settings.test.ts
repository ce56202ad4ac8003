import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { useApp } from '../support/app.ts'
import { cli } from '../support/cli.ts'
import { startMailServer } from '../support/mail-server.ts'

const ACTOR = { kind: 'operator', id: 'ada' } as const
const app = await useApp()
const dataDir = dirname(app.db.file)
const gatehouse = cli(dataDir)
const run = (...argv: string[]) => gatehouse(...argv, '--data-dir', dataDir)

test('config show and doctor have what is set in the console, and no secrets', async () => {
  await using server = await startMailServer()
  const from = 'gate@example.com'
  await app.installationSettings.put(ACTOR, 'mail', { smtp_url: server.url, from })
  const client = { client_id: 'abc', client_secret: 'topsecret' }
  await app.installationSettings.put(ACTOR, 'gate.providers.github', client)
  const { out, err } = await run('config', 'show')
  expect(out).toContain('mail.smtp_url = "[redacted]"  # database\n')
  expect(out).toContain('gate.providers.github.client_id = "abc"  # database\n')
  expect(out).toContain('log.level = "info"  # default\n')
  expect(out + err).not.toContain('topsecret')
  const { findings } = (await run('doctor', '--json')).json()
  const [mail] = findings.filter(({ check }: { check: string }) => check === 'mail server')
  expect(mail.message).toBe(`127.0.0.1:${server.port} accepts mail`)
})

test('A file wins over what is set in the console', async () => {
  await app.installationSettings.put(ACTOR, 'mail', {
    smtp_url: 'smtp://stored.example',
    from: 'stored@example.com',
  })
  const env = {
    GATEHOUSE_MAIL_SMTP_URL: 'smtp://given.example',
    GATEHOUSE_MAIL_FROM: 'g@example.com',
  }
  const { out } = await cli(dataDir, { env })('config', 'show', '--data-dir', dataDir)
  expect(out).toContain('mail.from = "g@example.com"  # environment GATEHOUSE_MAIL_FROM\n')
})
