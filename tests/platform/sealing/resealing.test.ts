import { describe, expect, test } from 'bun:test'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import {
  masterKeyFile,
  newMasterKey,
  readMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { ringOf } from '../../../src/platform/sealing/key-ring.ts'
import { misfit } from '../../../src/platform/sealing/open-key-ring.ts'
import { until } from '../../support/binary.ts'
import { createInstallation, isWhole, openPost } from './fixture.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

const keyIn = (dataDir: string) => readMasterKey(dataDir) ?? expect.unreachable()

/** Seals mail `m0` with the current key, as a server that has not heard of a later one. */
function lateSealer({ dataDir, post }: Awaited<ReturnType<typeof createInstallation>>) {
  const old = createSealing(ringOf(keyIn(dataDir)))
  const text = JSON.stringify({ text: 'text 0', html: '' })
  return () => post.put('m0', old.seal('mails', 'mails/m0/body', text))
}

function startChild(...args: string[]) {
  const script = join(import.meta.dir, 'resealing.script.ts')
  const command = [process.execPath, script, ...args]
  const child = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  const said = { text: '' }
  const read = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) said.text += decoder.decode(chunk, { stream: true })
  })()
  const exited = async () => {
    await Promise.all([child.exited, read])
    return { signal: child.signalCode, said: said.text }
  }
  const end = async () => {
    child.stdin.write('end\n')
    child.stdin.flush()
    return JSON.parse((await exited()).said.replace('ready', ''))
  }
  return { ready: () => until(() => said.text.includes('ready')), end, exited }
}

describe('A rotation', () => {
  test('reseals everything with a new key, removes the old one and is audited', async () => {
    using installation = await createInstallation(603)
    const { db, post } = installation
    const [from = ''] = installation.held()
    await db.commit(() => db.client.run("UPDATE mails SET body = NULL WHERE id = 'm7'"))

    const outcome = await installation.rotate()

    const { to } = outcome
    expect(to).not.toBe(from)
    expect(outcome).toEqual({ from, to, resealed: { mails: 602 }, unopenable: {} })
    expect([installation.held(), installation.known()]).toEqual([[to], [to]])
    const sealed = post.ids().map(post.sealed)
    expect(sealed.filter((text) => !text.startsWith(`s1.${to}.`))).toEqual([''])
    const object = `master_key:${to}`
    expect(installation.audited()).toEqual([
      { action: 'secrets.rotation_started', object, from, to },
      { action: 'secrets.rotated', object, from, to, resealed: { mails: 602 } },
    ])
    await db.commit(() => post.change('m7', 'text 7'))
    expect(isWhole(await installation.start())).toBe(true)
  })

  test('keeps fingerprints over a second rotation', async () => {
    using installation = await createInstallation(3)
    const first = await installation.rotate()
    const second = await installation.rotate()
    expect(second).toMatchObject({ from: first.to, resealed: { mails: 3, fingerprint_keys: 5 } })
    expect(isWhole(await installation.start())).toBe(true)
    expect(isWhole(installation.post)).toBe(true)
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
    expect(isWhole(await installation.start())).toBe(true)
  })

  test('fails while a server keeps using the old key, and keeps that key', async () => {
    using installation = await createInstallation(1)
    const [from = ''] = installation.held()
    const onWaiting = lateSealer(installation)
    const rotated = installation.rotate(installation.connect(), { onWaiting })
    await expect(rotated).rejects.toThrow('a server still seals secrets with the old key')
    expect(installation.held()).toContain(from)
    expect(installation.known()).toContain(from)
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
    expect([installation.held(), installation.known()]).toEqual([[one.to], [one.to]])
    expect((one.resealed.mails ?? 0) + (other.resealed.mails ?? 0)).toBe(40)
    expect(installation.audited()).toHaveLength(2)
    expect(isWhole(await installation.start())).toBe(true)
  })

  test('harms no server that seals and opens at the same time', async () => {
    using installation = await createInstallation(600)
    const { dataDir } = installation
    const [old] = installation.held()
    const servers = [startChild('serve', dataDir), startChild('serve', dataDir)]
    await Promise.all(servers.map(({ ready }) => ready()))

    const { to } = JSON.parse((await startChild('rotate', dataDir).exited()).said)

    for (const server of servers) {
      const { rounds, keys, failures } = await server.end()
      expect([keys, failures]).toEqual([[old, to], []])
      expect(rounds).toBeGreaterThan(50)
    }
    expect([installation.held(), installation.known()]).toEqual([[to], [to]])
    expect(isWhole(await installation.start())).toBe(true)
  }, 60_000)

  test('leaves unopenable texts and the old key, and ends once they are replaced', async () => {
    using installation = await createInstallation(4)
    const { db, post } = installation
    const [from = ''] = installation.held()
    const spoiled = [post.sealed('m1'), post.sealed('m2').replace(/..$/, 'AA'), 'not sealed']
    const names = ['m0', 'm2', 'm3']
    await db.commit(() => {
      for (const [n, id] of names.entries()) post.put(id, spoiled[n] ?? '')
    })

    const outcome = await installation.rotate()

    const { to } = outcome
    expect(outcome).toEqual({ from, to, resealed: { mails: 1 }, unopenable: { mails: 3 } })
    expect(names.map(post.sealed)).toEqual(spoiled)
    expect([installation.held(), installation.known()]).toEqual([[to, from], [from, to].toSorted()])
    expect((await installation.start()).text('m1')).toBe('text 1')

    await db.commit(() => {
      for (const id of names) post.change(id, `text ${id.slice(1)}`)
    })
    expect(await installation.rotate()).toEqual({ from, to, resealed: {}, unopenable: {} })
    expect([installation.held(), installation.known()]).toEqual([[to], [to]])
    expect(installation.audited()).toHaveLength(2)
    expect(isWhole(await installation.start())).toBe(true)
  })
})

describe('A killed rotation', () => {
  // The begin, two slices, the end in the table and the end in the file. After a transaction the
  // state is that inside of the next one.
  test.each([
    ['inside', 1],
    ['inside', 2],
    ['inside', 3],
    ['inside', 4],
    ['inside', 5],
    ['after', 5],
  ])('%s its transaction %d loses nothing and is continued', async (when, at) => {
    using installation = await createInstallation(603)
    const { dataDir, db, post } = installation
    const [from = ''] = installation.held()
    const rotation = startChild('rotate', dataDir, when, `${at}`)
    expect(await rotation.exited()).toEqual({ signal: 'SIGKILL', said: '' })

    const [to = '', ...previous] = installation.held()
    const isFileDone = at === 5
    expect(previous).toEqual(isFileDone ? [] : [from])
    expect(misfit({ dataDir, key: keyIn(dataDir), known: installation.known() })).toBeUndefined()
    const server = await installation.start()
    for (const one of [server, post]) expect(isWhole(one)).toBe(true)
    await db.commit(() => post.post('m9000', 'text 9000'))
    expect(server.text('m9000')).toBe('text 9000')
    if (isFileDone) return

    expect(await installation.rotate()).toMatchObject({ from, to, unopenable: {} })
    expect([installation.held(), installation.known()]).toEqual([[to], [to]])
    expect(installation.audited()).toMatchObject([
      { action: 'secrets.rotation_started', from, to },
      { action: 'secrets.rotated', from, to },
    ])
    expect(isWhole(await installation.start())).toBe(true)
    expect(post.ids().filter((id) => !post.sealed(id).startsWith(`s1.${to}.`))).toEqual([])
  })

  test('leaves a draft of the file, which the next one removes', async () => {
    using installation = await createInstallation(1)
    const draft = `${masterKeyFile(installation.dataDir)}.tmp`
    writeFileSync(draft, 'gatehouse-master-key-1:')
    await installation.rotate()
    expect(existsSync(draft)).toBe(false)
    expect(installation.held()).toHaveLength(1)
  })
})

test('A database and a key file fit only if they are of the same moment of a rotation', async () => {
  using installation = await createInstallation(2)
  const { dataDir, db, post } = installation
  const moments = [{ key: keyIn(dataDir), known: installation.known() }]
  const note = () => moments.push({ key: keyIn(dataDir), known: installation.known() })
  await db.commit(() => post.put('m0', 'not sealed'))
  await installation.rotate()
  note()
  await db.commit(() => post.change('m0', 'text 0'))
  await installation.rotate()
  note()

  const objections = moments.map(({ known }) =>
    moments.map(({ key }) => misfit({ dataDir: '/d', key, known })?.split(' (')[0]),
  )
  const other = 'master.key in /d does not match the database'
  const less = 'master.key in /d lacks a key that the database still needs'
  expect(objections).toEqual([
    [undefined, undefined, other],
    [less, undefined, less],
    [other, undefined, undefined],
  ])
})

test('A database without its list of keys begins with new fingerprints', async () => {
  using installation = await createInstallation(1)
  await installation.rotate()
  rmSync(masterKeyFile(installation.dataDir))
  installation.db.client.run('DELETE FROM master_keys')
  const server = await installation.start()
  server.post('m1', 'text 1')
  expect([server.isCounted('m1'), server.isCounted('m0')]).toEqual([true, false])
  const counts = { resealed: { mails: 1 }, unopenable: { mails: 1 } }
  expect(await installation.rotate()).toMatchObject(counts)
})

describe('A running server', () => {
  test('seals with the new key at once, and opens what it read before', async () => {
    using installation = await createInstallation(1)
    const { db, post } = installation
    const other = await installation.start()
    const before = ['mails', 'mails/m0/body', post.sealed('m0')] as const

    const { to } = await installation.rotate()
    await nextTurn()
    await db.commit(() => post.post('m1', 'text 1'))

    expect(post.sealed('m1')).toStartWith(`s1.${to}.`)
    expect(other.text('m1')).toBe('text 1')
    expect(post.sealing.open(...before)).toContain('text 0')
  })

  test('keeps its key while the new one is only in the file', async () => {
    using installation = await createInstallation(1)
    const before = keyIn(installation.dataDir)
    replaceKeyFile(installation.dataDir, [newMasterKey(), before])
    const server = await installation.start()
    server.change('m0', 'text 0')
    expect(server.sealed('m0')).toStartWith(`s1.${before.id}.`)
  })

  test('opens with a key of the file that it has not heard of', async () => {
    using installation = await createInstallation(1)
    const { dataDir, post } = installation
    const added = newMasterKey()
    const sealed = createSealing(ringOf(added)).seal('p', 'place', 'secret')
    const open = () => post.sealing.open('p', 'place', sealed)
    expect(open).toThrow(`place was sealed with master key ${added.id}`)
    replaceKeyFile(dataDir, [keyIn(dataDir), added])
    expect(open()).toBe('secret')
  })

  test('that cannot read the new key seals nothing, because that would be lost', async () => {
    using installation = await createInstallation(1)
    await installation.rotate()
    writeFileSync(masterKeyFile(installation.dataDir), 'gone')
    await nextTurn()
    expect(() => installation.post.change('m0', 'text 0')).toThrow('the new one cannot be read')
  })

  test('reads neither file nor table for what it seals and opens', async () => {
    using installation = await createInstallation(1)
    const { db, clock, dataDir } = installation
    let asked = 0
    const version = () => {
      asked++
      return db.version()
    }
    const { sealing } = await openPost({ ...db, version }, clock, dataDir)
    sealing.seal('p', 'x', 'y')
    writeFileSync(masterKeyFile(dataDir), 'not looked at')
    db.client.run('DROP TABLE master_keys')
    await nextTurn()
    asked = 0
    for (let n = 0; n < 100; n++) sealing.open('p', 'x', sealing.seal('p', 'x', 'y'))
    expect(asked).toBe(1)
  })
})
