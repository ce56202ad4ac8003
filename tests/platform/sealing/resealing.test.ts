import { describe, expect, mock, test } from 'bun:test'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { getTableName } from 'drizzle-orm'
import { sealedColumns } from '../../../src/cli/secrets.ts'
import { type Db, openDatabase } from '../../../src/db/open.ts'
import { FINGERPRINT_PURPOSES } from '../../../src/platform/sealing/fingerprint-purposes.ts'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import {
  masterKeyFile,
  newMasterKey,
  readMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { ringOf } from '../../../src/platform/sealing/key-ring.ts'
import { misfit } from '../../../src/platform/sealing/open-key-ring.ts'
import {
  enrolled,
  halfway,
  recoveryCodes,
  withToken,
} from '../../engines/gate/sign-in/flows/acts.ts'
import { bootSocial } from '../../engines/gate/sign-in/flows/social-fixture.ts'
import { bootPassepartout } from '../../engines/passepartout/fixture.ts'
import type { TestApp } from '../../support/app.ts'
import { newAccount } from '../../support/social/index.ts'
import { ACTOR, createInstallation, openPost, rotationOn, turned, UNWATCHED } from './fixture.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const keyIn = (dataDir: string) => readMasterKey(dataDir) ?? expect.unreachable()

/** Seals mail `m0` with the current key, as a server that has not heard of a later one. */
function lateSealer({ dataDir, post }: Awaited<ReturnType<typeof createInstallation>>) {
  const old = createSealing(ringOf(keyIn(dataDir)))
  const text = JSON.stringify({ text: 'text 0', html: '' })
  return () => post.put('m0', old.seal('mails', 'mails/m0/body', text))
}

/** The connection of a process that is killed inside its transaction of this number. */
function killed(db: Db, at: number): Db {
  let commits = 0
  const commit: Db['commit'] = (work) =>
    db.commit(() => {
      const value = work()
      if (++commits === at) throw new Error('killed')
      return value
    })
  return { ...db, commit }
}

describe('A rotation', () => {
  test('reseals everything with a new key, removes the old one and is audited', async () => {
    using installation = await createInstallation(503)
    const { db, post } = installation
    const [from = ''] = installation.held()
    await db.commit(() => db.client.run("UPDATE mails SET body = NULL WHERE id = 'm7'"))
    const other = await installation.start()
    const before = ['mails', 'mails/m0/body', post.sealed('m0')] as const
    const draft = `${masterKeyFile(installation.dataDir)}.tmp`
    writeFileSync(draft, 'left by a killed rotation')
    const outcome = await installation.rotate()
    const { to } = outcome
    expect(to).not.toBe(from)
    expect(outcome).toEqual({ from, to, resealed: { mails: 502 }, unopenable: {} })
    expect(installation.keys()).toEqual([[to], [to]])
    expect(existsSync(draft)).toBe(false)
    const sealed = post.ids().map(post.sealed)
    expect(sealed.filter((text) => !text.startsWith(`s1.${to}.`))).toEqual([''])
    const object = `master_key:${to}`
    expect(installation.audited()).toEqual([
      { action: 'secrets.rotation_started', object, from, to },
      { action: 'secrets.rotated', object, from, to, resealed: { mails: 502 } },
    ])
    // Servers that run seal with the new key from their next turn, and open what they read before.
    await nextTurn()
    await db.commit(() => post.change('m7', 'text 7'))
    expect(post.sealed('m7')).toStartWith(`s1.${to}.`)
    expect(other.text('m7')).toBe('text 7')
    expect(post.sealing.open(...before)).toContain('text 0')
    expect((await installation.start()).isWhole()).toBe(true)
  })

  test('keeps fingerprints over a second rotation, and begins with new ones without its list of keys', async () => {
    using installation = await createInstallation(3)
    const first = await installation.rotate()
    const second = await installation.rotate()
    const resealed = { mails: 3, fingerprint_keys: FINGERPRINT_PURPOSES.length }
    expect(second).toMatchObject({ from: first.to, resealed })
    for (const one of [installation.post, await installation.start()])
      expect(one.isWhole()).toBe(true)
    rmSync(masterKeyFile(installation.dataDir))
    installation.db.client.run('DELETE FROM master_keys')
    const server = await installation.start()
    server.post('m3', 'text 3')
    expect([server.isCounted('m3'), server.isCounted('m0')]).toEqual([true, false])
    const counts = { resealed: { mails: 1 }, unopenable: { mails: 3 } }
    expect(await installation.rotate()).toMatchObject(counts)
  })

  test('waits ten seconds for servers and then reseals what they sealed with the old key', async () => {
    using installation = await createInstallation(1)
    const begun = installation.clock.monotonic()
    const seal = lateSealer(installation)
    const waits: number[] = []
    const onWaiting = (msLeft: number) => {
      if (msLeft === 1000 && !waits.includes(1000)) seal()
      waits.push(msLeft)
    }
    const { to, resealed } = await installation.rotate(installation.connect(), { onWaiting })
    expect(installation.clock.monotonic() - begun).toBeGreaterThanOrEqual(10_000)
    expect(waits.slice(0, 10)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((s) => s * 1000))
    expect(resealed).toEqual({ mails: 2 })
    expect(installation.post.sealed('m0')).toStartWith(`s1.${to}.`)
    expect((await installation.start()).isWhole()).toBe(true)
    // It keeps the old key while a server goes on using that.
    const onlyOld = lateSealer(installation)
    const rotated = installation.rotate(installation.connect(), { onWaiting: onlyOld })
    await expect(rotated).rejects.toThrow('a server still seals secrets with the old key')
    for (const ids of installation.keys()) expect(ids).toContain(to)
  })

  test('never overwrites a change that a server makes meanwhile', async () => {
    using installation = await createInstallation(2)
    const { post } = installation
    const db = installation.connect()
    const commit: typeof db.commit = async (work) => {
      // The second commit is the first slice, whose texts have been read by now.
      if (installation.held().length === 2 && post.text('m0') === 'text 0') {
        await nextTurn()
        await installation.db.commit(() => post.change('m0', 'changed'))
      }
      return db.commit(work)
    }
    const { to, resealed } = await installation.rotate({ ...db, commit })
    expect(resealed).toEqual({ mails: 1 })
    expect(post.text('m0')).toBe('changed')
    expect(post.sealed('m0')).toStartWith(`s1.${to}.`)
  })

  test('started twice at once is one rotation', async () => {
    using installation = await createInstallation(40)
    const [one, other] = await Promise.all([installation.rotate(), installation.rotate()])
    expect([other.from, other.to]).toEqual([one.from, one.to])
    expect(installation.keys()).toEqual([[one.to], [one.to]])
    expect((one.resealed.mails ?? 0) + (other.resealed.mails ?? 0)).toBe(40)
    expect(installation.audited()).toHaveLength(2)
    expect((await installation.start()).isWhole()).toBe(true)
  })

  test('leaves unopenable texts and the old key, and ends once they are replaced', async () => {
    using installation = await createInstallation(4)
    const { db, post } = installation
    const [from = ''] = installation.held()
    const changed = post.sealed('m2').replace(/(?<=^.{20})./, (it) => (it === 'A' ? 'B' : 'A'))
    const spoiled = { m0: post.sealed('m1'), m2: changed, m3: 'not sealed' }
    await db.commit(() => {
      for (const [id, text] of Object.entries(spoiled)) post.put(id, text)
    })
    const { to, ...outcome } = await installation.rotate()
    expect(outcome).toEqual({ from, resealed: { mails: 1 }, unopenable: { mails: 3 } })
    expect(Object.keys(spoiled).map(post.sealed)).toEqual(Object.values(spoiled))
    expect(installation.keys()).toEqual([[to, from], [from, to].toSorted()])
    expect((await installation.start()).text('m1')).toBe('text 1')
    await db.commit(() => {
      for (const id of Object.keys(spoiled)) post.change(id, `text ${id.slice(1)}`)
    })
    expect(await installation.rotate()).toEqual({ from, to, resealed: {}, unopenable: {} })
    expect(installation.keys()).toEqual([[to], [to]])
    expect(installation.audited()).toHaveLength(2)
    expect((await installation.start()).isWhole()).toBe(true)
  })

  // The begin, two slices, the end in the table and the end in the file. After a transaction the
  // state is that inside of the next one.
  test.each([1, 2, 3, 4, 5])(
    'that is killed in transaction %d loses nothing and is continued',
    async (at) => {
      using installation = await createInstallation(503)
      const { dataDir, db, post } = installation
      const [from = ''] = installation.held()
      const rotation = installation.rotate(killed(installation.connect(), at))
      await expect(rotation).rejects.toThrow('killed')
      const [to = '', ...previous] = installation.held()
      const isFileDone = at === 5
      expect(previous).toEqual(isFileDone ? [] : [from])
      expect(misfit({ dataDir, key: keyIn(dataDir), known: installation.known() })).toBeUndefined()
      const server = await installation.start()
      for (const one of [server, post]) expect(one.isWhole()).toBe(true)
      await db.commit(() => post.post('m9000', 'text 9000'))
      expect(server.text('m9000')).toBe('text 9000')
      if (isFileDone) return
      expect(await installation.rotate()).toMatchObject({ from, to, unopenable: {} })
      expect(installation.keys()).toEqual([[to], [to]])
      const actions = ['secrets.rotation_started', 'secrets.rotated']
      expect(installation.audited()).toMatchObject(actions.map((action) => ({ action, from, to })))
      expect((await installation.start()).isWhole()).toBe(true)
      expect(post.ids().filter((id) => !post.sealed(id).startsWith(`s1.${to}.`))).toEqual([])
    },
  )
})

test('A server seals with a key once the database names it, and opens with any of the file', async () => {
  using installation = await createInstallation(1)
  const { dataDir, post } = installation
  const before = keyIn(dataDir)
  const added = newMasterKey()
  const sealed = createSealing(ringOf(added)).seal('p', 'place', 'secret')
  const open = () => post.sealing.open('p', 'place', sealed)
  expect(open).toThrow(`place was sealed with master key ${added.id}`)
  replaceKeyFile(dataDir, [added, before])
  expect(open()).toBe('secret')
  for (const server of [post, await installation.start()]) {
    server.change('m0', 'text 0')
    expect(server.sealed('m0')).toStartWith(`s1.${before.id}.`)
  }
})

test('A server that cannot read the new key seals nothing, because that would be lost', async () => {
  using installation = await createInstallation(1)
  await installation.rotate()
  writeFileSync(masterKeyFile(installation.dataDir), 'gone')
  await nextTurn()
  expect(() => installation.post.change('m0', 'text 0')).toThrow('the new one cannot be read')
})

test('A server asks once a turn for new keys, and reads neither file nor table', async () => {
  using installation = await createInstallation(1)
  const { db, clock, dataDir } = installation
  const version = mock(db.version)
  const { sealing } = await openPost({ ...db, version }, clock, dataDir)
  const use = () => sealing.open('p', 'x', sealing.seal('p', 'x', 'y'))
  use()
  writeFileSync(masterKeyFile(dataDir), 'not looked at')
  db.client.run('DROP TABLE master_keys')
  await nextTurn()
  version.mockClear()
  for (let n = 0; n < 3; n++) use()
  expect(version).toHaveBeenCalledTimes(1)
})

type Held = Pick<TestApp, 'db' | 'clock'>

const SEALED = /s1\.[0-9a-f]{12}\.[\w-]{38}/

/** How many sealed texts each column of a database has, or each table. */
function sealedIn({ db: { client } }: Held, by: 'column' | 'table') {
  const columns = client.query<{ name: string; column: string }, []>(
    `SELECT t.name, c.name AS "column" FROM sqlite_schema t JOIN pragma_table_info(t.name) c
      WHERE t.type = 'table' AND c.type IN ('TEXT', 'BLOB')`,
  )
  const counts: Record<string, number> = {}
  for (const { name, column } of columns.all()) {
    const texts = client.query(`SELECT "${column}" FROM "${name}"`).values().flat()
    const count = texts.filter((text) => SEALED.test(`${text}`)).length
    const key = by === 'table' ? name : `${name}.${column}`
    if (count > 0) counts[key] = (counts[key] ?? 0) + count
  }
  return counts
}

/** Rotates the key; returns the columns with sealed texts, all of which are resealed. */
async function expectAllResealed(app: Held): Promise<string[]> {
  const [before, tables] = [sealedIn(app, 'column'), sealedIn(app, 'table')]
  const dataDir = dirname(app.db.file)
  const db = openDatabase({ dataDir, synchronous: 'full' })
  using _ = { [Symbol.dispose]: db.close }
  const rotation = rotationOn(db, app.clock, dataDir).rotate(ACTOR, UNWATCHED)
  const { from, to, ...counts } = await turned(app.clock, rotation)
  expect(counts).toEqual({ resealed: tables, unopenable: {} })
  const texts = sealedIn(app, 'column')
  expect(texts).toMatchObject(before)
  expect(from).not.toBe(to)
  return Object.keys(texts)
}

/** Creates jobs with secret headers, one of them with a run from before an edit. */
async function editedJob(app: TestApp) {
  const { api } = await app.tenant()
  const fields = { name: 'job', url: 'http://127.0.0.1:1/', secret_headers: { 'X-Key': 'a' } }
  const run_at = '2036-01-01T00:00:00Z'
  const signed = { schedule: '0 0 1 1 *', signed: true }
  await api.post('/v1/clockwork/delayed', { ...fields, run_at })
  const { id } = (await api.post('/v1/clockwork/jobs', { ...fields, ...signed })).body
  await api.post(`/v1/clockwork/jobs/${id}/run`)
  await app.clock.settled()
  await api.patch(`/v1/clockwork/jobs/${id}`, { secret_headers: { 'X-Key': 'b' } })
  await api.post('/v1/clockwork/monitors', { name: 'monitor', period_seconds: 60 })
}

test('Every column with sealed texts is on the list and is resealed', async () => {
  const social = await bootSocial()
  const messenger = await bootPassepartout()
  await social.security({ mfa_enabled: true })
  const { token } = await enrolled(social)
  const codes = await recoveryCodes(social, token)
  await social.settings(token)
  await social.signInWith('google', newAccount())
  await social.authorizeUrl(await social.begin('login'), 'google')
  await social.begin('recovery')
  const test = { sessionId: 'of an admin', actor: ACTOR, returnTo: '/console' }
  await social.app.gate.testSignIns.begin('google', test)
  const acme = await messenger.newTenant()
  const login = await messenger.signIn(acme, messenger.botApi.person())
  const client = { client_id: 'a', client_secret: 'b' }
  await messenger.app.installationSettings.put(ACTOR, 'gate.providers.github', client)
  const channel = { type: 'owners' } as const
  await messenger.app.notifications.channels.create(acme.id, ACTOR, channel)
  await editedJob(messenger.app)
  const found = [social.app, messenger.app].map(expectAllResealed)
  const listed = sealedColumns.map(({ column }) => `${getTableName(column.table)}.${column.name}`)
  expect([...new Set((await Promise.all(found)).flat())].toSorted()).toEqual(listed.toSorted())
  // With the fingerprint keys that the first rotation made.
  await expectAllResealed(social.app)
  const { flow, token: half } = await halfway(social)
  const code = { method: 'lookup_secret', lookup_secret: codes[0] }
  expect(await social.send(flow, code, withToken(half))).toMatchObject({ status: 200 })
  expect((await login.status()).body).toMatchObject({ status: 'completed' })
  await social.stop()
  await messenger.stop()
})
