import { describe, expect, test } from 'bun:test'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createStubResolver } from '../../../src/platform/outbound/stub-resolver.ts'
import { errorCode } from '../../../src/platform/transport/failure.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type Records, startNameServer } from './name-server.ts'

/** A resolver, its name server, and the files that say how it resolves. */
async function fixture(records: Records = {}) {
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

  return {
    asked: server.asked,
    resolve,
    /** The addresses of a host, or the code of the failure. */
    addresses: (host: string): Promise<string[] | string> =>
      resolve(host).then((found) => found.map(({ address }) => address), errorCode),
    setHosts: write(hostsFile),
    removeHosts: () => rmSync(hostsFile),
    setResolvConf: write(resolvConf),
    [Symbol.dispose]: () => {
      server[Symbol.dispose]()
      folder[Symbol.dispose]()
    },
  }
}

test('names that never resolve hold up no file, no hash and no other name', async () => {
  const silent = Array.from({ length: 64 }, (_, n) => `${n}.silent.example`)
  using here = await fixture({
    'fine.example': ['192.0.2.1'],
    ...Object.fromEntries(silent.map((name) => [name, 'silent'])),
  })
  let ended = 0
  for (const name of silent) void here.addresses(name).then(() => ended++)

  await Promise.all([
    readFile(import.meta.path),
    Bun.password.hash('secret', { algorithm: 'bcrypt', cost: 4 }),
  ])
  expect(await here.addresses('fine.example')).toEqual(['192.0.2.1'])
  expect(ended).toBe(0)
})

describe('a name server', () => {
  test('gives the IPv4 and the IPv6 addresses of a name', async () => {
    using here = await fixture({
      'both.example': ['2001:0db8:0000:0000:0000:0000:0000:0001', '192.0.2.1', '192.0.2.2'],
      'six.example': ['2001:0db8:0000:0000:0000:0000:0000:0002'],
    })

    expect(await here.resolve('both.example')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
    expect(await here.addresses('six.example')).toEqual(['2001:db8::2'])
  })

  test('that knows no address of a name is told from one that fails', async () => {
    using here = await fixture({ 'empty.example': [], 'broken.example': ['fails'] })

    expect(await here.addresses('none.example')).toBe('ENOTFOUND')
    expect(await here.addresses('empty.example')).toBe('ENOTFOUND')
    expect(await here.addresses('broken.example')).toBe('ESERVFAIL')
  })

  test('that fails for IPv6 alone has given the IPv4 addresses', async () => {
    using here = await fixture({ 'half.example': ['192.0.2.1', 'fails'] })

    expect(await here.addresses('half.example')).toEqual(['192.0.2.1'])
  })

  test('is asked again each time, so that no answers pile up', async () => {
    using here = await fixture({ 'a.example': ['192.0.2.1'] })

    await here.addresses('a.example')
    await here.addresses('a.example')

    expect(here.asked).toEqual(Array.from({ length: 4 }, () => 'a.example'))
  })
})

describe('the hosts file', () => {
  test('comes before name servers, in any case, with all addresses of a name', async () => {
    using here = await fixture({ 'both.example': ['192.0.2.1'] })
    here.setHosts(
      [
        '# 10.0.0.1 both.example',
        '10.0.0.7\tNAS nas.lan # the one in the cellar',
        'fd00::7 nas',
        '10.0.0.8 both.example',
        'nonsense nas',
        '',
      ].join('\n'),
    )

    expect(await here.addresses('nas')).toEqual(['10.0.0.7', 'fd00::7'])
    expect(await here.addresses('nas.lan')).toEqual(['10.0.0.7'])
    expect(await here.addresses('both.example')).toEqual(['10.0.0.8'])
    expect(here.asked).toEqual([])
  })

  test('is read again when it has changed, and may be missing', async () => {
    using here = await fixture()
    expect(await here.addresses('nas')).toBe('ENOTFOUND')
    here.setHosts('10.0.0.7 nas')
    expect(await here.addresses('nas')).toEqual(['10.0.0.7'])
    here.setHosts('10.0.0.8 nas')
    expect(await here.addresses('nas')).toEqual(['10.0.0.8'])
    here.removeHosts()
    expect(await here.addresses('nas')).toBe('ENOTFOUND')
  })
})

describe('the search domains of resolv.conf', () => {
  /** What is asked for in turn, until there is an answer. */
  const asked = async (host: string, resolvConf: string) => {
    using here = await fixture()
    here.setResolvConf(resolvConf)
    expect(await here.addresses(host)).toBe('ENOTFOUND')
    return [...new Set(here.asked)]
  }

  test.each([
    ['nas', '', ['nas']],
    ['nas', 'search lan corp.example.', ['nas.lan', 'nas.corp.example', 'nas']],
    ['nas', 'domain lan', ['nas.lan', 'nas']],
    ['nas', 'search old\nnameserver 192.0.2.53\nsearch lan # at home', ['nas.lan', 'nas']],
    ['nas', 'search .', ['nas']],
    ['a.example', 'search lan', ['a.example', 'a.example.lan']],
    ['api.shop', 'search svc.local\noptions timeout:1 ndots:5', ['api.shop.svc.local', 'api.shop']],
    ['a.b.c', 'search lan\noptions ndots:2', ['a.b.c', 'a.b.c.lan']],
  ])('%s with %p', async (host, resolvConf, names) => {
    expect(await asked(host, resolvConf)).toEqual(names)
  })

  test('end with the first name that has an address, or whose look-up fails', async () => {
    using here = await fixture({
      'nas.lan': ['10.0.0.7'],
      'tv.lan': ['fails'],
      'tv.corp.example': ['10.0.0.8'],
    })
    here.setResolvConf('search lan corp.example')

    expect(await here.addresses('nas')).toEqual(['10.0.0.7'])
    expect(await here.addresses('tv')).toBe('ESERVFAIL')
    expect(here.asked).not.toContain('nas.corp.example')
    expect(here.asked).not.toContain('tv.corp.example')
  })
})
