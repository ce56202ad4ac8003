import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadConfig } from '../../../src/config/index.ts'
import {
  createInstanceHealth,
  issuesIn,
  type ProcessState,
} from '../../../src/console/instance-health.ts'
import { backupPage } from '../../../src/console/pages/installation/backup.tsx'
import { backupList } from '../../../src/console/pages/installation/backups.tsx'
import { configurationPage } from '../../../src/console/pages/installation/configuration.tsx'
import { healthPage } from '../../../src/console/pages/installation/health.tsx'
import {
  type BackupRow,
  createBackupStore,
  createBackups,
} from '../../../src/platform/backup/index.ts'
import { createInstallationSettings } from '../../../src/platform/installation-settings/index.ts'
import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import { COMMIT, VERSION } from '../../../src/platform/version.ts'
import { testConfig } from '../../support/config.ts'
import { audited, HOUR, MINUTE, useConsole } from '../fixture.ts'
import { pageWith } from '../page-with.ts'

const HEALTH = '/installation/health'
const BACKUPS = '/installation/backups'
const CONFIGURATION = '/installation/configuration'

const app = await useConsole({ flags: { 'log-level': 'debug' } })
const admin = await app.newAdmin()

test('The configuration has every setting with its source, and no secrets', async () => {
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
  const installationSettings = createInstallationSettings({ ...app.platform, config })
  const { open } = pageWith(app, admin.cookie, configurationPage, {
    config,
    origins,
    installationSettings,
  })
  const page = await open(CONFIGURATION)
  page.says('settings are customized.').omits('<script>alert(1)', 'topsecret')
  for (const pattern of [
    /\[log\].* level The lowest level[^"]*"debug", .* GATEHOUSE_LOG_LEVEL Value "debug" Source Environment GATEHOUSE_LOG_LEVEL/,
    /data_dir The directory.* Value "\/srv\/&lt;script>alert\(1\)&lt;\/script>" Source File \S+:1/,
    /\[mail\].* from The sender.* Value "gate@example\.com" Source Flag --mail-from/,
    /\[server\].* host The address.* Value "\S+" Source Default/,
    /\[mail\].* smtp_url The mail server.* Value "\[redacted\]" Source Environment GATEHOUSE_MAIL_SMTP_URL/,
  ])
    expect(page.text.replaceAll('<', '&lt;')).toMatch(pattern)
  for (const [query, shown, hidden] of [
    ['set=true', '[mail]', '[server]'],
    ['q=LOG.', '[log]', '[mail]'],
    ['q=Reverse proxies', 'trusted_proxies', '[log]'],
    ['q=nothing-so', 'No matching settings', '[log]'],
  ] as const)
    expect((await open(`${CONFIGURATION}?${query}`)).says(shown).text).not.toContain(hidden)

  const guide = await open(`${CONFIGURATION}?q=server.base_url`)
  guide.says('base_url = "https://', 'GATEHOUSE_SERVER_BASE_URL=https://')
  ;(await admin.open(`${CONFIGURATION}?q=server.base_url`)).omits('No matching settings')
  const file = await open(`${CONFIGURATION}/export`)
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="gatehouse.toml"')
  expect(file.html).toContain('[log]\nlevel = "debug"  # environment GATEHOUSE_LOG_LEVEL')
  expect(file.html).not.toContain('topsecret')
  const sourceless = await admin.open(CONFIGURATION)
  expect(sourceless.text).toMatch(/\[log\].* level The lowest level.* Value "debug"/)
  expect(sourceless.text).not.toMatch(/ Source |authorize_url/)
  await admin.sees(`${CONFIGURATION}?set=true`, '[server]')
})

const addBackup = (agoMs: number, error: string | null = null) =>
  app.db.commit(() => {
    const startedAt = app.clock.now() - agoMs
    const of = { id: crypto.randomUUID(), origin: 'schedule', owner: null } as const
    const file = join(dirname(app.db.file), 'backups', `gatehouse-${agoMs}.tar.gz`)
    const bytes = error === null ? 12_345_678 : null
    const ended = { startedAt, endedAt: startedAt + 1000, file, bytes, error }
    createBackupStore(app.db).add({ ...of, ...ended })
  })

test('Health warns about backups, and says how much is due and how late it is', async () => {
  const health = () => admin.open(HEALTH)
  const missing = await health()
  missing.says('Running. 1 problem needs attention.', 'scheduled backups are off')
  ;(await admin.open(BACKUPS)).says('No backups yet')
  missing.says('gatehouse backup', 'Server None. Emails are held in the outbox')
  await addBackup(25 * HOUR)
  ;(await health()).says('No backup in the last day')
  await addBackup(2 * HOUR, 'no space left on <b>device</b>')
  ;(await health()).says('The last backup failed', 'no space left on &lt;b>device&lt;/b>')
  await addBackup(HOUR)
  const { text } = await health()
  for (const pattern of [
    /Everything works\. The backlog is empty, and the last backup succeeded\..*No problems/,
    new RegExp(`Version ${VERSION} Commit ${COMMIT}`),
    /Database [\d.]+ [KM]B Write-ahead log [\d.]+ [KM]?B Free disk [\d.]+ [GT]B/,
  ])
    expect(text).toMatch(pattern)
  const { text: list } = await admin.open(BACKUPS)
  expect(list).toMatch(/gatehouse-3600000\.tar\.gz.*File removed.*Schedule.*12\.3 MB/)

  const { api } = await app.tenant()
  const run_at = new Date(app.clock.now() + 1000).toISOString()
  await api.post('/v1/clockwork/delayed', { name: 'late', run_at, url: 'http://127.0.0.1:9/' })
  const due = app.clock.now() - 5 * MINUTE
  app.db.client.run(`UPDATE runs SET state = 'ready', due_at = ${due}`)
  const late = await health()
  late.says('Job runs are delayed by 5 min', 'Job runs Backlog 1 Longest wait 5 min')
  app.db.client.run('DELETE FROM runs')
})

test('Disk space is little below a gigabyte, and a queue is late from a minute on', () => {
  const queue = { name: 'runs', readyCount: 1, lagMs: MINUTE - 1 } as const
  const last = { endedAt: 0, error: null } as BackupRow
  const backups = { ...testConfig().backup, enabled: true, last, made: [last] }
  const processes: readonly ProcessState[] = []
  const healthy = {
    now: 0,
    startedAt: 0,
    freeBytes: 1024 ** 3,
    queues: [queue],
    processes,
    backups,
  }
  expect(issuesIn(healthy)).toEqual([])
  const freeBytes = 1024 ** 3 - 1
  const late = { ...queue, lagMs: MINUTE }
  expect(issuesIn({ ...healthy, freeBytes, queues: [late] })).toMatchObject([
    { what: 'room', freeBytes },
    { what: 'queue', name: 'runs', lagMs: MINUTE },
  ])
})

test('The check of a backup says that it can be restored, or why not', async () => {
  await addBackup(HOUR)
  const { id = '', file = '' } = createBackupStore(app.db).list(app.clock.now(), 1)[0] ?? {}
  const answers = [
    () => ({ databaseBytes: 12_000, hasKey: true }),
    () => ({ databaseBytes: 12_000, hasKey: false }),
    () => {
      throw new Error('the archive is <b>damaged')
    },
  ]
  const checkArchive = async () => (answers.shift() as () => never)()
  const objectStorage = testConfig().s3
  const backups = createBackups({
    ...app.platform,
    settings: testConfig().backup,
    objectStorage,
    checkArchive,
  })
  const { send } = pageWith(app, admin.cookie, backupPage, { backups })
  const check = () => send(`${BACKUPS}/${id}/check`)
  expect((await check()).status).toBe(409)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, 'an archive')
  ;(await check()).says('Complete and restorable', 'key is included and matches')
  ;(await check()).says('The master key is not included')
  ;(await check()).says("This backup can't be restored", 'The archive is &lt;b>damaged.')
  rmSync(file)
})

test('Processes are listed with their versions, and different ones are a problem with the fix', async () => {
  const beat = { host: 'there 4026531836', started_at: 1, heartbeat_at: app.clock.now(), beat: 1 }
  const add = (id: string, pid: number, version: string, changed: object = {}) => {
    const row = { id, pid, version, ...beat, ...changed }
    const names = Object.keys(row)
    app.db.client
      .query(`INSERT INTO instances (${names}) VALUES (${names.map((name) => `$${name}`)})`)
      .run(row)
  }
  ;(await admin.open(HEALTH)).says('shows this page', 'Database schema').omits('different versions')
  add('old', 812, '0.0.9')
  add('dead', 813, '0.0.8', { heartbeat_at: app.clock.now() - 3 * MINUTE })
  const page = await admin.open(HEALTH)
  page.says(
    'Processes run different versions',
    'Restart process 812 on there (0.0.9)',
    'No heartbeat',
  )
  page.omits('813 on there (', '4026531836')
  app.db.client.run("DELETE FROM instances WHERE id IN ('old', 'dead')")
})

test('Backups are made one at a time, with progress and result; no password is shown', async () => {
  const { platform, mail } = app
  const { backup, mail: settings, s3: objectStorage } = testConfig()
  let ending = Promise.withResolvers<{ bytes: number }>()
  const makeArchive = () => ending.promise
  const backups = createBackups({ ...platform, settings: backup, objectStorage, makeArchive })
  const smtpUrl = 'smtps://mailer:topsecret@smtp.example.com'
  const installationSettings = {
    current: () => ({ ...testConfig(), mail: { ...settings, smtpUrl } }),
  }
  const replication = { stall: () => undefined, pair: () => undefined }
  const parts = {
    ...{
      ...app,
      ...platform,
      backups,
      mail,
      config: { backup },
      installationSettings,
      replication,
    },
  }
  const instanceHealth = createInstanceHealth(parts)
  const { open, press } = pageWith(app, admin.cookie, [healthPage, backupList], {
    ...{ backups, instanceHealth, config: testConfig() },
  })
  ;(await open(HEALTH)).says('smtp.example.com:465').omits('topsecret')
  const during = await press(BACKUPS, 'Back up now')
  during.says('In progress', 'hx-trigger="every 2s"').omits('Back up now')
  await expect(backups.makeNow()).rejects.toThrow('a backup is already running')
  const entry = { actor_kind: 'operator', actor_id: admin.id, tenant_id: SYSTEM_TENANT_ID }
  expect(audited(app, 'backup.asked_for')).toMatchObject([entry])

  ending.resolve({ bytes: 1_200_000 })
  await backups.idle()
  const after = (await open(BACKUPS)).omits('hx-trigger="every 2s"')
  expect(after.text).toMatch(/Schedule .*1\.2 MB/)
  ;(await open(HEALTH)).says('Everything works')
  app.clock.jump(MINUTE)
  ending = Promise.withResolvers()
  await press(BACKUPS, 'Back up now')
  ending.reject(new Error('no space left'))
  await backups.idle()
  ;(await open(HEALTH)).says('The last backup failed', 'no space left', 'Back up now')
})
