import { beforeAll, describe, expect, test } from 'bun:test'
import { createAuthority, createIdentity, type Identity } from './certificates.ts'
import { answer, failure, get, loopback, reply, startTarget, startTlsTarget } from './support.ts'

const NAME = 'pinned.example.test'
let authority: Identity
let stranger: Identity
let impostor: Identity
let named: Identity

beforeAll(async () => {
  authority = await createAuthority()
  stranger = await createAuthority('Another authority')
  impostor = await createAuthority()
  named = await createIdentity({ authority, name: NAME })
})

const trusting = () => loopback({ ca: authority.cert })

describe('a checked address is dialled, and the certificate judged by the name', () => {
  test('a name that does not resolve is reached at the address it was pinned to', async () => {
    const target = await startTlsTarget(named)

    const result = reply(await trusting().send(get(`https://${NAME}:${target.port}/`)))

    expect(result).toMatchObject({ status: 200, text: 'over tls', address: '127.0.0.1' })
    expect(result.timings.tls).toBeGreaterThan(0)
    expect(target.seen).toEqual({ requests: 1, names: [NAME] })
  })

  test('spelling does not matter: upper case and a trailing dot', async () => {
    const target = await startTlsTarget(named)

    const result = await trusting().send(get(`https://${NAME.toUpperCase()}.:${target.port}/`))

    expect(reply(result).status).toBe(200)
    expect(target.seen.names).toEqual([NAME])
  })

  test('a wildcard certificate covers one label', async () => {
    const target = await startTlsTarget(await createIdentity({ authority, name: '*.example.test' }))

    const one = await trusting().send(get(`https://${NAME}:${target.port}/`))
    const two = await trusting().send(get(`https://a.${NAME}:${target.port}/`))

    expect(reply(one).status).toBe(200)
    expect(failure(two).message).toBe(`TLS: the certificate is not valid for a.${NAME}`)
  })

  test('a URL with a literal address needs a certificate for that address', async () => {
    const right = await startTlsTarget(await createIdentity({ authority, ip: '127.0.0.1' }))
    const wrong = await startTlsTarget(named)

    const accepted = await trusting().send(get(`https://127.0.0.1:${right.port}/`))
    const refused = await trusting().send(get(`https://127.0.0.1:${wrong.port}/`))

    expect(reply(accepted).status).toBe(200)
    expect(failure(refused).message).toBe('TLS: the certificate is not valid for 127.0.0.1')
  })
})

describe('a certificate that does not prove the name ends the call before anything is sent', () => {
  const refusals: [title: string, identity: () => Promise<Identity>, message: string][] = [
    [
      'for another name',
      () => createIdentity({ authority, name: 'other.example.test' }),
      `TLS: the certificate is not valid for ${NAME}`,
    ],
    [
      'only for the address',
      () => createIdentity({ authority, ip: '127.0.0.1' }),
      `TLS: the certificate is not valid for ${NAME}`,
    ],
    [
      'of an unknown authority',
      () => createIdentity({ authority: stranger, name: NAME }),
      'TLS: the certificate is not signed by a trusted authority',
    ],
    [
      'of an authority that took the name of a trusted one',
      () => createIdentity({ authority: impostor, name: NAME }),
      'TLS: the certificate is not signed by a trusted authority',
    ],
    [
      'that is self-signed',
      () => createIdentity({ name: NAME }),
      'TLS: the certificate is self-signed',
    ],
    [
      'that has expired',
      () => createIdentity({ authority, name: NAME, valid: [-2, -1] }),
      'TLS: the certificate has expired',
    ],
    [
      'that is not valid yet',
      () => createIdentity({ authority, name: NAME, valid: [1, 2] }),
      'TLS: the certificate is not valid yet',
    ],
  ]

  test.each(refusals)('%s', async (_, identity, message) => {
    const target = await startTlsTarget(await identity())

    const result = await trusting().send(get(`https://${NAME}:${target.port}/`))

    expect(failure(result)).toMatchObject({ reason: 'tls', message, address: '127.0.0.1' })
    expect(target.seen.requests).toBe(0)
  })

  test('the authority counts only where the operator added it', async () => {
    const target = await startTlsTarget(named)

    const result = await loopback().send(get(`https://${NAME}:${target.port}/`))

    expect(failure(result).reason).toBe('tls')
    expect(target.seen.requests).toBe(0)
  })

  test('a good call opens no door for a bad one to the same address', async () => {
    const target = await startTlsTarget(named)
    const outbound = trusting()

    const good = await outbound.send(get(`https://${NAME}:${target.port}/`))
    const bad = await outbound.send(get(`https://other.example.test:${target.port}/`))

    expect(reply(good).status).toBe(200)
    expect(failure(bad).reason).toBe('tls')
    expect(target.seen.requests).toBe(1)
  })
})

describe('a target that does not speak TLS is told apart', () => {
  test('one that answers in clear text', async () => {
    const target = await startTarget(answer('never'))
    const clear = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { open: (socket) => void socket.write('220 mail.example\r\n'), data() {} },
    })

    const result = await loopback().send(get(`https://${NAME}:${clear.port}/`))

    expect(failure(result)).toMatchObject({
      reason: 'tls',
      message: 'TLS: the server does not use TLS',
    })
    expect(target.requests).toEqual([])
    clear.stop(true)
  })

  test('one that never answers the handshake runs into the deadline', async () => {
    const target = await startTarget(() => {})

    const result = await loopback({ timeoutMs: 150 }).send(get(`https://${NAME}:${target.port}/`))

    expect(failure(result)).toMatchObject({
      reason: 'timeout',
      message: 'no complete response within 0.2 s (during the TLS handshake)',
    })
  })
})
