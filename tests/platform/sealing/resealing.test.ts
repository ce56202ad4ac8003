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
import { createHouse, isWhole, openPost } from './resealing-support.ts'

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
    using house = await createHouse(1203)
    const [old = ''] = house.held()
    await house.db.commit(() => house.db.client.run("UPDATE mails SET body = NULL WHERE id = 'm7'"))

    const outcome = await house.rotate()

    const { to } = outcome
    expect(to).not.toBe(old)
    expect(outcome).toEqual({ from: old, to, resealed: { mails: 1202 }, unopenable: {} })
    expect([house.held(), house.known()]).toEqual([[to], [to]])
    const sealed = house.post.ids().map(house.post.sealed)
    expect(sealed.filter((text) => !text.startsWith(`s1.${to}.`))).toEqual([''])
    await house.db.commit(() => house.post.change('m7', 'text 7'))
    expect(isWhole(await house.start())).toBe(true)
  })

  test('leaves word of its beginning and its end, with the ids of the keys', async () => {
    using house = await createHouse(3)

    const { from, to } = await house.rotate()

    expect(house.audited()).toEqual([
      { action: 'secrets.rotation_started', object: `master_key:${to}`, from, to },
      { action: 'secrets.rotated', object: `master_key:${to}`, from, to, resealed: { mails: 3 } },
    ])
  })

  test('can follow another, and fingerprints from before the first are still known', async () => {
    using house = await createHouse(3)

    const first = await house.rotate()
    const second = await house.rotate()

    expect(second).toMatchObject({ from: first.to, resealed: { mails: 3, fingerprint_keys: 5 } })
    expect(isWhole(await house.start())).toBe(true)
    expect(isWhole(house.post)).toBe(true)
  })

  test('gives servers ten seconds to hear of the key before it looks for the last time', async () => {
    using house = await createHouse(1)
    const begun = house.clock.monotonic()
    const waits: number[] = []

    await house.rotate(house.connect(), { onWaiting: (msLeft) => void waits.push(msLeft) })

    expect(house.clock.monotonic() - begun).toBeGreaterThanOrEqual(10_000)
    expect(waits).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((seconds) => seconds * 1000))
  })

  test('finds what somebody who had not heard of the key sealed in the meantime', async () => {
    using house = await createHouse(1)
    const old = createSealing(ringOf(masterKeyFrom(house.dataDir)))
    const text = JSON.stringify({ text: 'text 0', html: '' })
    let looks = 0
    const onWaiting = (msLeft: number) => {
      if (msLeft === 1000 && looks++ === 0)
        house.post.put('m0', old.seal('mails', 'mails/m0/body', text))
    }

    const { to, resealed } = await house.rotate(house.connect(), { onWaiting })

    expect(resealed).toEqual({ mails: 2 })
    expect(house.post.sealed('m0')).toStartWith(`s1.${to}.`)
    expect(isWhole(await house.start())).toBe(true)
  })

  test('gives up where the old key goes on being used, and keeps it', async () => {
    using house = await createHouse(1)
    const [from = ''] = house.held()
    const old = createSealing(ringOf(masterKeyFrom(house.dataDir)))
    const onWaiting = () => house.post.put('m0', old.seal('mails', 'mails/m0/body', '{}'))

    await expect(house.rotate(house.connect(), { onWaiting })).rejects.toThrow(
      'something goes on being sealed with the old key: stop servers of an older version',
    )

    expect(house.held()).toContain(from)
    expect(house.known()).toContain(from)
  })

  test('never writes over what a server changes while it is at work', async () => {
    using house = await createHouse(2)
    const db = house.connect()
    const commit: typeof db.commit = async (work) => {
      // The first is the beginning, the second the first slice: its texts are read already.
      if (house.held().length === 2 && house.post.text('m0') === 'text 0') {
        await nextTurn()
        await house.db.commit(() => house.post.change('m0', 'changed'))
      }
      return db.commit(work)
    }

    const { to, resealed } = await house.rotate({ ...db, commit })

    expect(resealed).toEqual({ mails: 1 })
    expect(house.post.text('m0')).toBe('changed')
    expect(house.post.sealed('m0')).toStartWith(`s1.${to}.`)
  })

  test('of two that begin at once is one', async () => {
    using house = await createHouse(40)

    const [one, other] = await Promise.all([house.rotate(), house.rotate()])

    expect([other.from, other.to]).toEqual([one.from, one.to])
    expect([house.held(), house.known()]).toEqual([[one.to], [one.to]])
    expect((one.resealed.mails ?? 0) + (other.resealed.mails ?? 0)).toBe(40)
    expect(house.audited().map(({ action }) => action)).toEqual([
      'secrets.rotation_started',
      'secrets.rotated',
    ])
    expect(isWhole(await house.start())).toBe(true)
  })

  test('beside a server that seals and opens without a pause harms nothing', async () => {
    using house = await createHouse(1500)
    const [old] = house.held()
    const servers = [startChild('serve', house.dataDir), startChild('serve', house.dataDir)]
    await Promise.all(servers.map(({ ready }) => ready()))

    const rotation = startChild('rotate', house.dataDir)
    const { to } = JSON.parse((await rotation.exited()).said)

    for (const server of servers) {
      const { rounds, keys, failures } = await server.end()
      expect(failures).toEqual([])
      expect(rounds).toBeGreaterThan(50)
      expect(keys).toEqual([old, to])
    }
    expect([house.held(), house.known()]).toEqual([[to], [to]])
    expect(isWhole(await house.start())).toBe(true)
  }, 60_000)
})

describe('what cannot be opened', () => {
  test('is counted and left as it is; all else is sealed anew, and the old key stays', async () => {
    using house = await createHouse(4)
    const [from = ''] = house.held()
    const [moved, damaged] = [house.post.sealed('m1'), house.post.sealed('m2').replace(/..$/, 'AA')]
    await house.db.commit(() => {
      house.post.put('m0', moved)
      house.post.put('m2', damaged)
      house.post.put('m3', 'no sealed text')
    })

    const outcome = await house.rotate()

    const { to } = outcome
    expect(outcome).toEqual({ from, to, resealed: { mails: 1 }, unopenable: { mails: 3 } })
    expect(['m0', 'm2', 'm3'].map(house.post.sealed)).toEqual([moved, damaged, 'no sealed text'])
    expect(house.held()).toEqual([to, from])
    expect(house.known()).toEqual([from, to].toSorted())
    expect((await house.start()).text('m1')).toBe('text 1')
  })

  test('holds up the end alone: once it is set or gone, the same rotation is finished', async () => {
    using house = await createHouse(2)
    await house.db.commit(() => house.post.put('m0', 'no sealed text'))
    const { from, to } = await house.rotate()
    await house.db.commit(() => house.post.change('m0', 'text 0'))

    expect(await house.rotate()).toEqual({ from, to, resealed: {}, unopenable: {} })
    expect([house.held(), house.known()]).toEqual([[to], [to]])
    expect(house.audited()).toHaveLength(2)
    expect(isWhole(await house.start())).toBe(true)
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
      using house = await createHouse(1203)
      const [from = ''] = house.held()
      const rotation = startChild('rotate', house.dataDir, when, `${at}`)
      expect(await rotation.exited()).toEqual({ signal: 'SIGKILL', said: '' })

      const [to = '', ...previous] = house.held()
      const isFileDone = at === 6
      expect(previous).toEqual(isFileDone ? [] : [from])
      expect(
        misfit({ dataDir: house.dataDir, key: held(house.dataDir), known: house.known() }),
      ).toBe(undefined)
      const server = await house.start()
      expect(isWhole(server)).toBe(true)
      expect(isWhole(house.post)).toBe(true)
      await house.db.commit(() => house.post.post('m9000', 'text 9000'))
      expect(server.text('m9000')).toBe('text 9000')
      if (isFileDone) return

      expect(await house.rotate()).toMatchObject({ from, to, unopenable: {} })

      expect([house.held(), house.known()]).toEqual([[to], [to]])
      expect(house.audited().map(({ action, from, to }) => ({ action, from, to }))).toEqual([
        { action: 'secrets.rotation_started', from, to },
        { action: 'secrets.rotated', from, to },
      ])
      expect(isWhole(await house.start())).toBe(true)
      expect(house.post.ids().every((id) => house.post.sealed(id).startsWith(`s1.${to}.`))).toBe(
        true,
      )
    },
  )

  test('while it writes the file leaves a draft, which the next one does away with', async () => {
    using house = await createHouse(1)
    const draft = `${masterKeyFile(house.dataDir)}.tmp`
    writeFileSync(draft, 'gatehouse-master-key-1:')

    await house.rotate()

    expect(existsSync(draft)).toBe(false)
    expect(house.held()).toHaveLength(1)
  })
})

describe('a backup that is taken during a rotation', () => {
  test('with the copy from before its end and the file from after it does not fit', async () => {
    using house = await createHouse(1)
    const copied = house.known()

    await house.rotate()

    const [to = ''] = house.held()
    expect(misfit({ dataDir: '/restored', key: held(house.dataDir), known: copied })).toBe(
      'master.key in /restored is not the key that sealed what is in the database ' +
        `(it is ${to} and has to be ${copied}); put back the one from the backup`,
    )
  })

  test('with the copy from its middle fits the file from its middle alone', async () => {
    using house = await createHouse(2)
    const [from = ''] = house.held()
    const before = held(house.dataDir)
    await house.db.commit(() => house.post.put('m0', 'no sealed text'))
    const { to } = await house.rotate()
    const [copied, middle] = [house.known(), held(house.dataDir)]
    await house.db.commit(() => house.post.change('m0', 'text 0'))
    await house.rotate()

    const objection = (key: typeof before) => misfit({ dataDir: '/d', key, known: copied })
    expect(objection(middle)).toBeUndefined()
    for (const [key, id] of [
      [before, from],
      [held(house.dataDir), to],
    ] as const)
      expect(objection(key)).toBe(
        'master.key in /d lacks a key that some of what is in the database was sealed with ' +
          `(it is ${id} and has to be ${copied.join(' and ')}); put back the one from the backup`,
      )
  })
})

test('a database whose keys were given up for lost begins with new fingerprints too', async () => {
  using house = await createHouse(1)
  await house.rotate()
  rmSync(masterKeyFile(house.dataDir))
  house.db.client.run('DELETE FROM master_keys')

  const server = await house.start()
  server.post('m1', 'text 1')

  expect(server.isCounted('m1')).toBe(true)
  expect(server.isCounted('m0')).toBe(false)
  expect(await house.rotate()).toMatchObject({ resealed: { mails: 1 }, unopenable: { mails: 1 } })
})

describe('a running server', () => {
  test('seals with the new key as soon as the table has it, and opens what others sealed', async () => {
    using house = await createHouse(1)
    const other = await house.start()

    const { to } = await house.rotate()
    await nextTurn()
    await house.db.commit(() => house.post.post('m1', 'text 1'))

    expect(house.post.sealed('m1')).toStartWith(`s1.${to}.`)
    expect(other.text('m1')).toBe('text 1')
  })

  test('goes on with its own while the new one is in the file alone', async () => {
    using house = await createHouse(1)
    const before = masterKeyFrom(house.dataDir)
    replaceKeyFile(house.dataDir, [newMasterKey(), before])

    const server = await house.start()
    server.change('m0', 'text 0')

    expect(server.sealed('m0')).toStartWith(`s1.${before.id}.`)
  })

  test('opens what is sealed with a key that it has not heard of, and refuses what nobody has', async () => {
    using house = await createHouse(1)
    const added = newMasterKey()
    const sealed = createSealing(ringOf(added)).seal('p', 'place', 'secret')
    const { sealing } = house.post
    expect(() => sealing.open('p', 'place', sealed)).toThrow(
      `boundTo was sealed with master key ${added.id}`,
    )

    replaceKeyFile(house.dataDir, [masterKeyFrom(house.dataDir), added])

    expect(sealing.open('p', 'place', sealed)).toBe('secret')
  })

  test('opens what it had read before the old key was gone', async () => {
    using house = await createHouse(1)
    const boundTo = ['mails', 'mails/m0/body', house.post.sealed('m0')] as const

    await house.rotate()

    expect(house.post.sealing.open(...boundTo)).toContain('text 0')
  })

  test('that cannot read the new key seals nothing once its own is gone: it would be lost', async () => {
    using house = await createHouse(1)
    await house.rotate()
    writeFileSync(masterKeyFile(house.dataDir), 'gone')
    await nextTurn()

    expect(() => house.post.change('m0', 'text 0')).toThrow(
      'the master key was replaced, and the new one cannot be read here: put back master.key',
    )
  })

  test('reads neither file nor table anew for what it seals and opens', async () => {
    using house = await createHouse(1)
    const { db } = house
    let asked = 0
    const version = () => {
      asked++
      return db.version()
    }
    const post = await openPost({ ...db, version }, house.clock, house.dataDir)
    post.sealing.seal('p', 'x', 'y')
    writeFileSync(masterKeyFile(house.dataDir), 'not looked at')
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
