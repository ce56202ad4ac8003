import { describe, expect, test } from 'bun:test'
import { healthPage } from '../../../src/console/pages/admin/health.ts'
import { createBackupStore, createBackups } from '../../../src/platform/backup/index.ts'
import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import { COMMIT, VERSION } from '../../../src/platform/version.ts'
import { testConfig } from '../../support/config.ts'
import { type AdminFixture, alone, audited, bootAdmin, textOf } from './admin-fixture.ts'

const PATH = '/console/admin/health'
const HOUR = 3_600_000

const healthOf = async ({ open }: AdminFixture) => textOf(await open(PATH))

/** A backup of the schedule that ended so, some time ago. */
function backedUp(
  { app: { db, clock } }: AdminFixture,
  agoMs: number,
  error: string | null = null,
) {
  const startedAt = clock.now() - agoMs
  return db.commit(() =>
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

describe('a backup that somebody asks for', () => {
  /** Pages of the fixture over backups that end when the test says so. */
  async function bootBackups() {
    const fixture = await bootAdmin()
    const { platform, mail } = fixture.app
    const { backup, mail: settings } = testConfig()
    const ending = Promise.withResolvers<{ bytes: number }>()
    const makeArchive = () => ending.promise
    const backups = createBackups({ ...platform, settings: backup, makeArchive })
    const config = { backup, mail: settings }
    const open = alone(fixture, (common) =>
      healthPage({ ...platform, ...common, backups, mail, config }),
    )
    const ask = () => open(`${PATH}/back-up`, { method: 'POST' })
    return { fixture, backups, ending, open, ask }
  }

  test('begins at once, though none are made by themselves, and is noted', async () => {
    const { fixture, backups, ending, open, ask } = await bootBackups()
    await using app = fixture.app
    expect((await open(PATH)).body).toContain('Back up now')
    expect((await ask()).status).toBe(303)
    expect(audited(app, 'backup.asked_for')).toMatchObject([
      { actor_kind: 'operator', actor_id: fixture.admin.id, tenant_id: SYSTEM_TENANT_ID },
    ])
    const during = await open(`${PATH}?done=begun`)
    expect(textOf(during)).toContain('In progress')
    expect(during.body).toContain('hx-trigger="every 2s"')
    expect(during.body).not.toContain('Back up now')

    ending.resolve({ bytes: 1_200_000 })
    await backups.idle()
    const after = await open(PATH)
    expect(textOf(after)).toMatch(/Everything works.*Completed .*Schedule .*1\.2 MB/)
    expect(after.body).not.toContain('hx-trigger="every 2s"')
  })

  test('is refused while one is being made, and tells why one has failed', async () => {
    const { fixture, backups, ending, open, ask } = await bootBackups()
    await using app = fixture.app
    await ask()
    expect(await backups.makeNow().catch((error) => error.message)).toContain(
      'a backup is already running',
    )
    expect(audited(app, 'backup.asked_for')).toHaveLength(1)
    ending.reject(new Error('no space left on <b>device</b>'))
    await backups.idle()
    const after = await open(PATH)
    expect(textOf(after)).toContain('The last backup failed')
    expect(after.body).toContain('no space left on &lt;b>device&lt;/b>')
    expect(after.body).toContain('Back up now')
  })
})

describe('the page on health', () => {
  test('says that all is well where it is, and with what version', async () => {
    const fixture = await bootAdmin()
    await using _ = fixture.app
    await backedUp(fixture, HOUR)
    const text = await healthOf(fixture)
    expect(text).toContain('Everything works. The backlog is empty, and the last backup succeeded.')
    expect(text).toContain('No problems')
    expect(text).toContain(`Version ${VERSION} Commit ${COMMIT}`)
    expect(text).toMatch(/Running processes 1 /)
    expect(text).toMatch(
      /Database [\d.]+ [KM]B Write-ahead log [\d.]+ [KM]?B Free disk [\d.]+ [GT]B/,
    )
    expect(text).toMatch(/gatehouse-3600000\.tar\.gz.*Completed.*Schedule.*12\.3 MB/)
  })

  test('asks for backups where none are made, and says how', async () => {
    const fixture = await bootAdmin()
    await using _ = fixture.app
    const text = await healthOf(fixture)
    expect(text).toContain('Running. 1 problem needs attention.')
    expect(text).toContain('scheduled backups are off')
    expect(text).toContain('No backups yet')
    expect(text).toContain('gatehouse backup')
  })

  test('tells of a backup that is too old, and of one that failed', async () => {
    const fixture = await bootAdmin()
    await using _ = fixture.app
    await backedUp(fixture, 25 * HOUR)
    expect(await healthOf(fixture)).toContain('No backup in the last day')
    await backedUp(fixture, HOUR, 'no space left on <b>device</b>')
    const page = await fixture.open(PATH)
    expect(textOf(page)).toContain('The last backup failed')
    expect(page.body).toContain('no space left on &lt;b>device&lt;/b>')
  })

  test('counts what is due, and how long it has waited', async () => {
    const fixture = await bootAdmin()
    await using app = fixture.app
    await backedUp(fixture, HOUR)
    const { api } = await app.tenant()
    await app.clockwork.loop.stop(0)
    const run_at = new Date(app.clock.now() + 1000).toISOString()
    await api.post('/v1/clockwork/delayed', { name: 'late', run_at, url: 'http://127.0.0.1:9/' })
    app.db.client.run(
      `UPDATE runs SET state = 'ready', due_at = ${app.clock.now() - 5 * 60_000} WHERE 1`,
    )
    const text = await healthOf(fixture)
    expect(text).toContain('Job runs are delayed by 5 min 0 s')
    expect(text).toMatch(/Job runs Backlog 1 Longest wait 5 min 0 s/)
  })

  test('names the mail server, without the password to it', async () => {
    const without = await bootAdmin()
    await using _ = without.app
    expect(await healthOf(without)).toContain('Server None. Emails are held in the outbox')

    const { platform, mail } = without.app
    const { backup, mail: settings } = testConfig()
    const smtpUrl = 'smtps://mailer:topsecret@smtp.example.com'
    const config = { backup, mail: { ...settings, smtpUrl } }
    const backups = { latest: () => undefined, list: () => [], makeNow: async () => {} }
    const sending = alone(without, (common) =>
      healthPage({ ...platform, ...common, backups, mail, config }),
    )
    const { body } = await sending(PATH)
    expect(body).toContain('smtp.example.com:465')
    expect(body).not.toContain('topsecret')
  })
})
