import { describe, expect, test } from 'bun:test'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import { createStubResolver } from '../../../src/platform/outbound/stub-resolver.ts'
import { errorCode } from '../../../src/platform/transport/failure.ts'
import { temporaryFolder } from '../../support/folder.ts'

const A = 1
const AAAA = 28
const SERVFAIL = 2
const NXDOMAIN = 3

const FAILS = 'fails'

/** The addresses of each name, where `fails` stands for those of IPv6, or `silent` for no answer. */
type Records = Record<string, string[] | 'silent'>

/** A name server on loopback. A name that it has no record of does not exist. */
async function startNameServer(records: Records) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = questionIn(query)
    asked.push(name)
    const record = records[name]
    if (record === 'silent') return
    const wanted = record?.filter((address) => isIPv4(address) === (type === A)) ?? []
    const given = wanted.filter((address) => address !== FAILS)
    const code = given.length < wanted.length ? SERVFAIL : record ? 0 : NXDOMAIN
    const head = Buffer.alloc(12)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8180 | code, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(given.length, 6)
    const answer = [head, query.subarray(12, end), ...given.map(recordOf)]
    socket.send(Buffer.concat(answer), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.dispose]: () => void socket.close(),
  }
}

function questionIn(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let size = query.readUInt8(at); size > 0; size = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size))
    at += 1 + size
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** Of the name in the question, for a minute. IPv6 addresses are written in full. */
function recordOf(address: string): Buffer {
  const bytes = isIPv4(address)
    ? Buffer.from(address.split('.').map(Number))
    : Buffer.from(address.replaceAll(':', ''), 'hex')
  const head = Buffer.from([0xc0, 12, 0, bytes.length === 4 ? A : AAAA, 0, 1, 0, 0, 0, 60, 0])
  return Buffer.concat([head, Buffer.from([bytes.length]), bytes])
}

async function createFixture(records: Records = {}) {
  const server = await startNameServer(records)
  const folder = temporaryFolder()
  const [hostsFile, resolvConf] = [join(folder.path, 'hosts'), join(folder.path, 'resolv.conf')]
  let changes = 0
  const write = (path: string) => (text: string) => {
    writeFileSync(path, text)
    changes++
    utimesSync(path, changes, changes)
  }
  const resolve = createStubResolver({ hostsFile, resolvConf, nameServers: [server.address] })
  /** The addresses of a host, or the code of the failure. */
  const addresses = (host: string): Promise<string[] | string> =>
    resolve(host).then((found) => found.map(({ address }) => address), errorCode)
  return {
    asked: server.asked,
    resolve,
    addresses,
    setHosts: write(hostsFile),
    removeHosts: () => rmSync(hostsFile),
    setResolvConf: write(resolvConf),
    [Symbol.dispose]: () => {
      server[Symbol.dispose]()
      folder[Symbol.dispose]()
    },
  }
}

test('Names that never resolve hold up no file, no hash and no other name', async () => {
  const silent = Array.from({ length: 64 }, (_, n) => `${n}.silent.example`)
  const records = Object.fromEntries(silent.map((name) => [name, 'silent' as const]))
  using fixture = await createFixture({ 'fine.example': ['192.0.2.1'], ...records })
  let ended = 0
  for (const name of silent) void fixture.addresses(name).then(() => ended++)
  await readFile(import.meta.path)
  await Bun.password.hash('secret', { algorithm: 'bcrypt', cost: 4 })
  expect(await fixture.addresses('fine.example')).toEqual(['192.0.2.1'])
  expect(ended).toBe(0)
})

test('A name server answers for IPv4 and IPv6, and its failures are told apart', async () => {
  using fixture = await createFixture({
    'both.example': ['2001:0db8:0000:0000:0000:0000:0000:0001', '192.0.2.1', '192.0.2.2'],
    'half.example': ['192.0.2.1', 'fails'],
    'empty.example': [],
    'broken.example': ['fails'],
  })
  expect(await fixture.resolve('both.example')).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '192.0.2.2', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ])
  expect(fixture.asked).toEqual(['both.example', 'both.example'])
  expect(await fixture.addresses('half.example')).toEqual(['192.0.2.1'])
  for (const host of ['none.example', 'empty.example'])
    expect(await fixture.addresses(host)).toBe('ENOTFOUND')
  expect(await fixture.addresses('broken.example')).toBe('ESERVFAIL')
})

test('The hosts file comes before name servers, in any case, and is read again after a change', async () => {
  using fixture = await createFixture({ 'both.example': ['192.0.2.1'] })
  expect(await fixture.addresses('nas')).toBe('ENOTFOUND')
  fixture.asked.length = 0
  fixture.setHosts(
    `# 10.0.0.1 both.example\n10.0.0.7\tNAS nas.lan # in the cellar\nfd00::7 nas
    10.0.0.8 both.example\nnonsense nas\n`,
  )
  expect(await fixture.addresses('nas')).toEqual(['10.0.0.7', 'fd00::7'])
  expect(await fixture.addresses('nas.lan')).toEqual(['10.0.0.7'])
  expect(await fixture.addresses('both.example')).toEqual(['10.0.0.8'])
  expect(fixture.asked).toEqual([])
  fixture.setHosts('10.0.0.9 nas')
  expect(await fixture.addresses('nas')).toEqual(['10.0.0.9'])
  fixture.removeHosts()
  expect(await fixture.addresses('nas')).toBe('ENOTFOUND')
})

describe('The search domains of resolv.conf', () => {
  test.each([
    ['nas', '', ['nas']],
    ['nas', 'search lan corp.example.', ['nas.lan', 'nas.corp.example', 'nas']],
    ['nas', 'domain lan', ['nas.lan', 'nas']],
    ['nas', 'search old\nnameserver 192.0.2.53\nsearch lan # at home', ['nas.lan', 'nas']],
    ['a.example', 'search lan', ['a.example', 'a.example.lan']],
    ['api.shop', 'search svc.local\noptions timeout:1 ndots:5', ['api.shop.svc.local', 'api.shop']],
  ])('decide the order of names: %s with %p', async (host, resolvConf, names) => {
    using fixture = await createFixture()
    fixture.setResolvConf(resolvConf)
    expect(await fixture.addresses(host)).toBe('ENOTFOUND')
    expect([...new Set(fixture.asked)]).toEqual(names)
  })

  test('are left at the first name that has an address or whose lookup fails', async () => {
    using fixture = await createFixture({ 'nas.lan': ['10.0.0.7'], 'tv.lan': ['fails'] })
    fixture.setResolvConf('search lan corp.example')
    expect(await fixture.addresses('nas')).toEqual(['10.0.0.7'])
    expect(await fixture.addresses('tv')).toBe('ESERVFAIL')
    expect(fixture.asked.join()).not.toContain('corp.example')
  })
})
