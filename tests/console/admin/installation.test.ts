import { describe, expect, test } from 'bun:test'
import type { AnyElysia } from 'elysia'
import { loadConfig } from '../../../src/config/index.ts'
import { createLayout, type Layout } from '../../../src/console/layout.ts'
import { type ConsoleMiddleware, createConsoleMiddleware } from '../../../src/console/middleware.ts'
import { configurationPage } from '../../../src/console/pages/admin/configuration.ts'
import { healthPage } from '../../../src/console/pages/admin/health.ts'
import { createScopeChecks } from '../../../src/console/scope.ts'
import { createTurns } from '../../../src/http/turns.ts'
import { createBackupStore, createBackups } from '../../../src/platform/backup/index.ts'
import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import { COMMIT, VERSION } from '../../../src/platform/version.ts'
import { testConfig } from '../../support/config.ts'
import { audited, bootConsole, HOUR, MINUTE, pagesOf, useConsole } from '../fixture.ts'

const HEALTH = '/console/admin/health'
const CONFIGURATION = '/console/admin/configuration'

const app = await useConsole({ flags: { 'log-level': 'debug' } })
const admin = await app.newAdmin()

/** Pages that are built with other parts than those of the application. */
function pagesWith(
  pagesFor: (common: { middleware: ConsoleMiddleware; layout: Layout }) => AnyElysia,
) {
  const baseUrl = () => 'http://localhost'
  const middleware = createConsoleMiddleware({
    currentOperator: app.operators.currentOperator,
    scopeChecks: createScopeChecks(),
    baseUrl,
    addressOf: () => undefined,
    turns: createTurns(),
    maxBody: 1000,
  })
  const layout = createLayout({ baseUrl, nearnessOf: app.platform.metering.nearnessOf })
  const pages = pagesFor({ middleware, layout })
  const raw = async (path: string, init?: RequestInit) => {
    const response = await pages.handle(new Request(`http://localhost${path}`, init))
    return { status: response.status, headers: response.headers, body: await response.text() }
  }
  return pagesOf({ raw, operators: app.operators }, admin.cookie)
}

describe('The configuration', () => {
  const loaded = loadConfig({
    flags: { 'mail-from': 'gate@example.com' },
    env: {
      GATEHOUSE_LOG_LEVEL: 'debug',
      GATEHOUSE_MAIL_SMTP_URL: 'smtps://mailer:topsecret@smtp.example.com',
    },
    cwd: '/srv',
    readFile: (name) => {
      if (name === '/srv/gatehouse.toml') return 'data_dir = "/srv/<script>alert(1)</script>"\n'
      throw Object.assign(new Error(`no file ${name}`), { code: 'ENOENT' })
    },
  })
  if (!loaded.ok) throw new Error('the configuration is wrong')
  const { config, origin: origins } = loaded
  const { open } = pagesWith((common) => configurationPage({ ...common, config, origins }))

  test('has every setting with its source, and no secrets', async () => {
    const { text, html } = await open(CONFIGURATION)
    expect(text).toContain('settings are customized.')
    for (const pattern of [
      /\[log\].* level Value "debug" Source Environment GATEHOUSE_LOG_LEVEL/,
      /data_dir Value "\/srv\/<script>alert\(1\)<\/script>" Source File \S+:1/,
      /\[mail\].* from Value "gate@example\.com" Source Flag --mail-from/,
      /\[server\].* host Value "\S+" Source Default/,
      /\[mail\].* smtp_url Value "\[redacted\]" Source Environment GATEHOUSE_MAIL_SMTP_URL/,
    ])
      expect(text).toMatch(pattern)
    expect(html).not.toMatch(/<script>alert|topsecret/)
  })

  test('is filtered by customized settings and by name', async () => {
    for (const [query, shown, hidden] of [
      ['set=true', '[mail]', '[server]'],
      ['q=LOG.', '[log]', '[mail]'],
      ['q=nothing-so', 'No matching settings', '[log]'],
    ] as const) {
      const { text } = await open(`${CONFIGURATION}?${query}`)
      expect([text.includes(shown), text.includes(hidden)]).toEqual([true, false])
    }
  })

  test('shows no sources where they are unknown', async () => {
    const { text } = await admin.open(CONFIGURATION)
    expect(text).toMatch(/\[log\].* level Value "debug"/)
    expect(text).not.toMatch(/ Source |authorize_url/)
    expect((await admin.open(`${CONFIGURATION}?set=true`)).text).toContain('[server]')
  })
})

describe('Health', () => {
  /** An installation whose scheduled backup ended some time ago. */
  async function bootBackedUp(...backups: { agoMs: number; error?: string }[]) {
    const own = await bootConsole()
    const { db, clock } = own
    for (const { agoMs, error = null } of backups) {
      const startedAt = clock.now() - agoMs
      await db.commit(() =>
        createBackupStore(db).add({
          id: crypto.randomUUID(),
          origin: 'schedule',
          owner: null,
          startedAt,
          endedAt: startedAt + 1000,
          file: `/backups/gatehouse-${agoMs}.tar.gz`,
          bytes: error === null ? 12_345_678 : null,
          error,
        }),
      )
    }
    const { open } = await own.newAdmin()
    return { own, health: () => open(HEALTH), [Symbol.asyncDispose]: own[Symbol.asyncDispose] }
  }

  test('says that everything works, with version and sizes', async () => {
    await using fixture = await bootBackedUp({ agoMs: HOUR })
    const { text } = await fixture.health()
    for (const pattern of [
      /Everything works\. The backlog is empty, and the last backup succeeded\./,
      /No problems/,
      new RegExp(`Version ${VERSION} Commit ${COMMIT}`),
      /Running processes 1 /,
      /Database [\d.]+ [KM]B Write-ahead log [\d.]+ [KM]?B Free disk [\d.]+ [GT]B/,
      /gatehouse-3600000\.tar\.gz.*Completed.*Schedule.*12\.3 MB/,
    ])
      expect(text).toMatch(pattern)
  })

  test('warns about backups that are missing, old or failed', async () => {
    const { text } = await admin.open(HEALTH)
    for (const words of [
      'Running. 1 problem needs attention.',
      'scheduled backups are off',
      'No backups yet',
      'gatehouse backup',
      'Server None. Emails are held in the outbox',
    ])
      expect(text).toContain(words)
    await using old = await bootBackedUp({ agoMs: 25 * HOUR })
    expect((await old.health()).text).toContain('No backup in the last day')
    const error = 'no space left on <b>device</b>'
    await using failed = await bootBackedUp({ agoMs: 2 * HOUR }, { agoMs: HOUR, error })
    const page = await failed.health()
    expect(page.text).toContain('The last backup failed')
    expect(page.html).toContain('no space left on &lt;b>device&lt;/b>')
  })

  test('says how much is due, and how late it is', async () => {
    await using fixture = await bootBackedUp({ agoMs: HOUR })
    const { own } = fixture
    const { api } = await own.tenant()
    await own.clockwork.loop.stop(0)
    const run_at = new Date(own.clock.now() + 1000).toISOString()
    await api.post('/v1/clockwork/delayed', { name: 'late', run_at, url: 'http://127.0.0.1:9/' })
    const due = own.clock.now() - 5 * MINUTE
    own.db.client.run(`UPDATE runs SET state = 'ready', due_at = ${due}`)
    const { text } = await fixture.health()
    expect(text).toContain('Job runs are delayed by 5 min 0 s')
    expect(text).toMatch(/Job runs Backlog 1 Longest wait 5 min 0 s/)
  })

  test('has the host of the mail server, not its password', async () => {
    const { platform, mail } = app
    const { backup, mail: settings } = testConfig()
    const smtpUrl = 'smtps://mailer:topsecret@smtp.example.com'
    const config = { backup, mail: { ...settings, smtpUrl } }
    const backups = { latest: () => undefined, list: () => [], makeNow: async () => {} }
    const { open } = pagesWith((common) =>
      healthPage({ ...platform, ...common, backups, mail, config }),
    )
    const { text, html } = await open(HEALTH)
    expect(text).toContain('smtp.example.com:465')
    expect(html).not.toContain('topsecret')
  })

  test('makes one backup at a time, and shows its progress and result', async () => {
    const { platform, mail } = app
    const { backup, mail: settings } = testConfig()
    let ending = Promise.withResolvers<{ bytes: number }>()
    const makeArchive = () => ending.promise
    const backups = createBackups({ ...platform, settings: backup, makeArchive })
    const config = { backup, mail: settings }
    const { open, send, follow } = pagesWith((common) =>
      healthPage({ ...platform, ...common, backups, mail, config }),
    )
    expect((await open(HEALTH)).text).toContain('Back up now')
    const begun = await send(`${HEALTH}/back-up`)
    const during = await follow(begun)
    expect([begun.status, during.text]).toEqual([303, expect.stringContaining('In progress')])
    expect(during.html).toContain('hx-trigger="every 2s"')
    expect(during.text).not.toContain('Back up now')
    await expect(backups.makeNow()).rejects.toThrow('a backup is already running')
    expect(audited(app, 'backup.asked_for')).toMatchObject([
      { actor_kind: 'operator', actor_id: admin.id, tenant_id: SYSTEM_TENANT_ID },
    ])

    ending.resolve({ bytes: 1_200_000 })
    await backups.idle()
    const after = await open(HEALTH)
    expect(after.text).toMatch(/Everything works.*Completed .*Schedule .*1\.2 MB/)
    expect(after.html).not.toContain('hx-trigger="every 2s"')

    app.clock.jump(MINUTE)
    ending = Promise.withResolvers()
    await send(`${HEALTH}/back-up`)
    ending.reject(new Error('no space left'))
    await backups.idle()
    const failed = await open(HEALTH)
    for (const words of ['The last backup failed', 'no space left', 'Back up now'])
      expect(failed.text).toContain(words)
  })
})
