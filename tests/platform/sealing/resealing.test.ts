import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import {
  masterKeyFile,
  masterKeyOf,
  newMasterKey,
  readMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { ringOf } from '../../../src/platform/sealing/key-ring.ts'
import { misfit } from '../../../src/platform/sealing/open-key-ring.ts'
import { until } from '../../support/binary.ts'
import { createInstallation, isWhole, openPost } from './fixture.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function startChild(...args: string[]) {
  const script = join(import.meta.dir, 'resealing.script.ts')
  const child = Bun.spawn([process.execPath, script, ...args], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const said = { text: '' }
  const read = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) said.text += decoder.decode(chunk, { stream: true })
  })()
  return {
    ready: () => until(() => said.text.includes('ready')),
    end: async () => {
      child.stdin.write('end\n')
      child.stdin.flush()
      await Promise.all([child.exited, read])
      return JSON.parse(said.text.replace('ready', ''))
    },
    exited: async () => {
      await Promise.all([child.exited, read])
      return { signal: child.signalCode, said: said.text }
    },
  }
}

describe('a rotation', () => {
  test('seals everything with a new key, and the old one is gone from table and file', async () => {
    using installation = await createInstallation(1203)
    const [old = ''] = installation.held()
    await installation.db.commit(() =>
      installation.db.client.run("UPDATE mails SET body = NULL WHERE id = 'm7'"),
    )

    const outcome = await installation.rotate()

    const { to } = outcome
    expect(to).not.toBe(old)
    expect(outcome).toEqual({ from: old, to, resealed: { mails: 1202 }, unopenable: {} })
    expect([installation.held(), installation.known()]).toEqual([[to], [to]])
    const sealed = installation.post.ids().map(installation.post.sealed)
    expect(sealed.filter((text) => !text.startsWith(`s1.${to}.`))).toEqual([''])
    await installation.db.commit(() => installation.post.change('m7', 'text 7'))
    expect(isWhole(await installation.start())).toBe(true)
  })

  test('leaves word of its beginning and its end, with the ids of the keys', async () => {
    using installation = await createInstallation(3)

    const { from, to } = await installation.rotate()

    expect(installation.audited()).toEqual([
      { action: 'secrets.rotation_started', object: `master_key:${to}`, from, to },
      { action: 'secrets.rotated', object: `master_key:${to}`, from, to, resealed: { mails: 3 } },
    ])
  })

  test('can follow another, and fingerprints from before the first are still known', async () => {
    using installation = await createInstallation(3)

    const first = await installation.rotate()
    const second = await installation.rotate()

    expect(second).toMatchObject({ from: first.to, resealed: { mails: 3, fingerprint_keys: 5 } })
    expect(isWhole(await installation.start())).toBe(true)
    expect(isWhole(installation.post)).toBe(true)
  })

  test('gives servers ten seconds to hear of the key before it looks for the last time', async () => {
    using installation = await createInstallation(1)
    const begun = installation.clock.monotonic()
    const waits: number[] = []

    await installation.rotate(installation.connect(), {
      onWaiting: (msLeft) => void waits.push(msLeft),
    })

    expect(installation.clock.monotonic() - begun).toBeGreaterThanOrEqual(10_000)
    expect(waits).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((seconds) => seconds * 1000))
  })

  test('finds what somebody who had not heard of the key sealed in the meantime', async () => {
    using installation = await createInstallation(1)
    const old = createSealing(ringOf(masterKeyFrom(installation.dataDir)))
    const text = JSON.stringify({ text: 'text 0', html: '' })
    let looks = 0
    const onWaiting = (msLeft: number) => {
      if (msLeft === 1000 && looks++ === 0)
        installation.post.put('m0', old.seal('mails', 'mails/m0/body', text))
    }

    const { to, resealed } = await installation.rotate(installation.connect(), { onWaiting })

    expect(resealed).toEqual({ mails: 2 })
    expect(installation.post.sealed('m0')).toStartWith(`s1.${to}.`)
    expect(isWhole(await installation.start())).toBe(true)
  })

  test('gives up where the old key goes on being used, and keeps it', async () => {
    using installation = await createInstallation(1)
    const [from = ''] = installation.held()
    const old = createSealing(ringOf(masterKeyFrom(installation.dataDir)))
    const onWaiting = () => installation.post.put('m0', old.seal('mails', 'mails/m0/body', '{}'))

    await expect(installation.rotate(installation.connect(), { onWaiting })).rejects.toThrow(
      'a server still seals secrets with the old key: stop servers of an older version',
    )

    expect(installation.held()).toContain(from)
    expect(installation.known()).toContain(from)
  })

  test('never writes over what a server changes while it is at work', async () => {
    using installation = await createInstallation(2)
    const db = installation.connect()
    const commit: typeof db.commit = async (work) => {
      // The first is the beginning, the second the first slice: its texts are read already.
      if (installation.held().length === 2 && installation.post.text('m0') === 'text 0') {
        await nextTurn()
        await installation.db.commit(() => installation.post.change('m0', 'changed'))
      }
      return db.commit(work)
    }

    const { to, resealed } = await installation.rotate({ ...db, commit })

    expect(resealed).toEqual({ mails: 1 })
    expect(installation.post.text('m0')).toBe('changed')
    expect(installation.post.sealed('m0')).toStartWith(`s1.${to}.`)
  })

  test('of two that begin at once is one', async () => {
    using installation = await createInstallation(40)

    const [one, other] = await Promise.all([installation.rotate(), installation.rotate()])

    expect([other.from, other.to]).toEqual([one.from, one.to])
    expect([installation.held(), installation.known()]).toEqual([[one.to], [one.to]])
    expect((one.resealed.mails ?? 0) + (other.resealed.mails ?? 0)).toBe(40)
    expect(installation.audited().map(({ action }) => action)).toEqual([
      'secrets.rotation_started',
      'secrets.rotated',
    ])
    expect(isWhole(await installation.start())).toBe(true)
  })

  test('beside a server that seals and opens without a pause harms nothing', async () => {
    using installation = await createInstallation(1500)
    const [old] = installation.held()
    const servers = [
      startChild('serve', installation.dataDir),
      startChild('serve', installation.dataDir),
    ]
    await Promise.all(servers.map(({ ready }) => ready()))

    const rotation = startChild('rotate', installation.dataDir)
    const { to } = JSON.parse((await rotation.exited()).said)

    for (const server of servers) {
      const { rounds, keys, failures } = await server.end()
      expect(failures).toEqual([])
      expect(rounds).toBeGreaterThan(50)
      expect(keys).toEqual([old, to])
    }
    expect([installation.held(), installation.known()]).toEqual([[to], [to]])
    expect(isWhole(await installation.start())).toBe(true)
  }, 60_000)
})

describe('what cannot be opened', () => {
  test('is counted and left as it is; all else is sealed anew, and the old key stays', async () => {
    using installation = await createInstallation(4)
    const [from = ''] = installation.held()
    const [moved, damaged] = [
      installation.post.sealed('m1'),
      installation.post.sealed('m2').replace(/..$/, 'AA'),
    ]
    await installation.db.commit(() => {
      installation.post.put('m0', moved)
      installation.post.put('m2', damaged)
      installation.post.put('m3', 'no sealed text')
    })

    const outcome = await installation.rotate()

    const { to } = outcome
    expect(outcome).toEqual({ from, to, resealed: { mails: 1 }, unopenable: { mails: 3 } })
    expect(['m0', 'm2', 'm3'].map(installation.post.sealed)).toEqual([
      moved,
      damaged,
      'no sealed text',
    ])
    expect(installation.held()).toEqual([to, from])
    expect(installation.known()).toEqual([from, to].toSorted())
    expect((await installation.start()).text('m1')).toBe('text 1')
  })

  test('holds up the end alone: once it is set or gone, the same rotation is finished', async () => {
    using installation = await createInstallation(2)
    await installation.db.commit(() => installation.post.put('m0', 'no sealed text'))
    const { from, to } = await installation.rotate()
    await installation.db.commit(() => installation.post.change('m0', 'text 0'))

    expect(await installation.rotate()).toEqual({ from, to, resealed: {}, unopenable: {} })
    expect([installation.held(), installation.known()]).toEqual([[to], [to]])
    expect(installation.audited()).toHaveLength(2)
    expect(isWhole(await installation.start())).toBe(true)
  })
})

describe('a rotation that is killed', () => {
  // The beginning, three slices, the end in the table, the end in the file.
  const MOMENTS = [1, 2, 3, 4, 5, 6].flatMap((at) => [
    ['inside', at] as const,
    ['after', at] as const,
  ])

  test.each(MOMENTS)(
    '%s its transaction %d loses nothing and is gone on with',
    async (when, at) => {
      using installation = await createInstallation(1203)
      const [from = ''] = installation.held()
      const rotation = startChild('rotate', installation.dataDir, when, `${at}`)
      expect(await rotation.exited()).toEqual({ signal: 'SIGKILL', said: '' })

      const [to = '', ...previous] = installation.held()
      const isFileDone = at === 6
      expect(previous).toEqual(isFileDone ? [] : [from])
      expect(
        misfit({
          dataDir: installation.dataDir,
          key: held(installation.dataDir),
          known: installation.known(),
        }),
      ).toBe(undefined)
      const server = await installation.start()
      expect(isWhole(server)).toBe(true)
      expect(isWhole(installation.post)).toBe(true)
      await installation.db.commit(() => installation.post.post('m9000', 'text 9000'))
      expect(server.text('m9000')).toBe('text 9000')
      if (isFileDone) return

      expect(await installation.rotate()).toMatchObject({ from, to, unopenable: {} })

      expect([installation.held(), installation.known()]).toEqual([[to], [to]])
      expect(installation.audited().map(({ action, from, to }) => ({ action, from, to }))).toEqual([
        { action: 'secrets.rotation_started', from, to },
        { action: 'secrets.rotated', from, to },
      ])
      expect(isWhole(await installation.start())).toBe(true)
      expect(
        installation.post.ids().every((id) => installation.post.sealed(id).startsWith(`s1.${to}.`)),
      ).toBe(true)
    },
  )

  test('while it writes the file leaves a draft, which the next one does away with', async () => {
    using installation = await createInstallation(1)
    const draft = `${masterKeyFile(installation.dataDir)}.tmp`
    writeFileSync(draft, 'gatehouse-master-key-1:')

    await installation.rotate()

    expect(existsSync(draft)).toBe(false)
    expect(installation.held()).toHaveLength(1)
  })
})

describe('a backup that is taken during a rotation', () => {
  test('with the copy from before its end and the file from after it does not fit', async () => {
    using installation = await createInstallation(1)
    const copied = installation.known()

    await installation.rotate()

    const [to = ''] = installation.held()
    expect(misfit({ dataDir: '/restored', key: held(installation.dataDir), known: copied })).toBe(
      'master.key in /restored does not match the database ' +
        `(found ${to}, need ${copied}): restore it from a backup`,
    )
  })

  test('with the copy from its middle fits the file from its middle alone', async () => {
    using installation = await createInstallation(2)
    const [from = ''] = installation.held()
    const before = held(installation.dataDir)
    await installation.db.commit(() => installation.post.put('m0', 'no sealed text'))
    const { to } = await installation.rotate()
    const [copied, middle] = [installation.known(), held(installation.dataDir)]
    await installation.db.commit(() => installation.post.change('m0', 'text 0'))
    await installation.rotate()

    const objection = (key: typeof before) => misfit({ dataDir: '/d', key, known: copied })
    expect(objection(middle)).toBeUndefined()
    for (const [key, id] of [
      [before, from],
      [held(installation.dataDir), to],
    ] as const)
      expect(objection(key)).toBe(
        'master.key in /d lacks a key that the database still needs ' +
          `(found ${id}, need ${copied.join(' and ')}): restore it from a backup`,
      )
  })
})

test('a database whose keys were given up for lost begins with new fingerprints too', async () => {
  using installation = await createInstallation(1)
  await installation.rotate()
  rmSync(masterKeyFile(installation.dataDir))
  installation.db.client.run('DELETE FROM master_keys')

  const server = await installation.start()
  server.post('m1', 'text 1')

  expect(server.isCounted('m1')).toBe(true)
  expect(server.isCounted('m0')).toBe(false)
  expect(await installation.rotate()).toMatchObject({
    resealed: { mails: 1 },
    unopenable: { mails: 1 },
  })
})

describe('a running server', () => {
  test('seals with the new key as soon as the table has it, and opens what others sealed', async () => {
    using installation = await createInstallation(1)
    const other = await installation.start()

    const { to } = await installation.rotate()
    await nextTurn()
    await installation.db.commit(() => installation.post.post('m1', 'text 1'))

    expect(installation.post.sealed('m1')).toStartWith(`s1.${to}.`)
    expect(other.text('m1')).toBe('text 1')
  })

  test('goes on with its own while the new one is in the file alone', async () => {
    using installation = await createInstallation(1)
    const before = masterKeyFrom(installation.dataDir)
    replaceKeyFile(installation.dataDir, [newMasterKey(), before])

    const server = await installation.start()
    server.change('m0', 'text 0')

    expect(server.sealed('m0')).toStartWith(`s1.${before.id}.`)
  })

  test('opens what is sealed with a key that it has not heard of, and refuses what nobody has', async () => {
    using installation = await createInstallation(1)
    const added = newMasterKey()
    const sealed = createSealing(ringOf(added)).seal('p', 'place', 'secret')
    const { sealing } = installation.post
    expect(() => sealing.open('p', 'place', sealed)).toThrow(
      `place was sealed with master key ${added.id}`,
    )

    replaceKeyFile(installation.dataDir, [masterKeyFrom(installation.dataDir), added])

    expect(sealing.open('p', 'place', sealed)).toBe('secret')
  })

  test('opens what it had read before the old key was gone', async () => {
    using installation = await createInstallation(1)
    const boundTo = ['mails', 'mails/m0/body', installation.post.sealed('m0')] as const

    await installation.rotate()

    expect(installation.post.sealing.open(...boundTo)).toContain('text 0')
  })

  test('that cannot read the new key seals nothing once its own is gone: it would be lost', async () => {
    using installation = await createInstallation(1)
    await installation.rotate()
    writeFileSync(masterKeyFile(installation.dataDir), 'gone')
    await nextTurn()

    expect(() => installation.post.change('m0', 'text 0')).toThrow(
      'the master key was rotated, but the new one cannot be read: restore master.key',
    )
  })

  test('reads neither file nor table anew for what it seals and opens', async () => {
    using installation = await createInstallation(1)
    const { db } = installation
    let asked = 0
    const version = () => {
      asked++
      return db.version()
    }
    const post = await openPost({ ...db, version }, installation.clock, installation.dataDir)
    post.sealing.seal('p', 'x', 'y')
    writeFileSync(masterKeyFile(installation.dataDir), 'not looked at')
    db.client.run('DROP TABLE master_keys')
    await nextTurn()
    asked = 0

    for (let n = 0; n < 100; n++) post.sealing.open('p', 'x', post.sealing.seal('p', 'x', 'y'))

    expect(asked).toBe(1)
  })
})

const held = readMasterKey

function masterKeyFrom(dataDir: string) {
  const [first = ''] = readFileSync(masterKeyFile(dataDir), 'utf8').split('\n')
  return masterKeyOf(Buffer.from(first.split(':')[1] ?? '', 'base64'))
}
