import { expect, test } from 'bun:test'
import { createAuthority, createIdentity } from './certificates.ts'
import { failure, get, loopback, reply, startTarget, startTlsTarget } from './fixture.ts'

const NAME = 'pinned.example.test'
const OTHER = 'other.example.test'
const authority = await createAuthority()
const stranger = await createAuthority('Another authority')
const impostor = await createAuthority()
const named = await createIdentity({ authority, name: NAME })
const outbound = loopback({ ca: authority.cert })

const callTo = (host: string, { port }: { port: number }) =>
  outbound.send(get(`https://${host}:${port}/`))

test('A name that does not resolve is reached at its pinned address', async () => {
  const target = await startTlsTarget(named)
  const result = reply(await callTo(NAME, target))
  expect(result).toMatchObject({ status: 200, text: 'over tls', address: '127.0.0.1' })
  for (const phase of ['dns', 'connect', 'tls', 'wait', 'read'] as const)
    expect(result.timings[phase], phase).toBeGreaterThan(0)
  expect(reply(await callTo(`${NAME.toUpperCase()}.`, target)).status).toBe(200)
  expect(target.seen).toEqual({ requests: 2, names: [NAME, NAME] })
})

const NOT_VALID = 'TLS: the certificate is not valid for'
const UNTRUSTED = 'TLS: the certificate is not signed by a trusted authority'
test.each<[title: string, host: string, Parameters<typeof createIdentity>[0], string | undefined]>([
  ['a wildcard covers one label', NAME, { authority, name: '*.example.test' }, undefined],
  ['and no second', `a.${NAME}`, { authority, name: '*.example.test' }, `${NOT_VALID} a.${NAME}`],
  ['an address', '127.0.0.1', { authority, ip: '127.0.0.1' }, undefined],
  ['another name', NAME, { authority, name: OTHER }, `${NOT_VALID} ${NAME}`],
  ['an unknown authority', NAME, { authority: stranger, name: NAME }, UNTRUSTED],
  ['an authority with a trusted name', NAME, { authority: impostor, name: NAME }, UNTRUSTED],
  ['self-signed', NAME, { name: NAME }, 'TLS: the certificate is self-signed'],
  ['expired', NAME, { authority, name: NAME, valid: [-2, -1] }, 'TLS: the certificate has expired'],
])('A certificate has to prove the name or address: %s', async (_, host, wanted, message) => {
  const target = await startTlsTarget(await createIdentity(wanted))
  const result = await callTo(host, target)
  if (message === undefined) expect(reply(result).status).toBe(200)
  else expect(failure(result)).toMatchObject({ reason: 'tls', message, address: '127.0.0.1' })
  expect(target.seen.requests).toBe(message === undefined ? 1 : 0)
})

test('A good call opens no door for a bad one to the same address', async () => {
  const target = await startTlsTarget(named)
  reply(await callTo(NAME, target))
  expect(failure(await callTo(OTHER, target)).reason).toBe('tls')
  expect(target.seen.requests).toBe(1)
})

test('A target without TLS is told apart from one whose handshake never ends', async () => {
  const greet = (socket: { write: (text: string) => unknown }) =>
    void socket.write('220 mail.example\r\n')
  using clear = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open: greet, data() {} } })
  const message = 'TLS: the server does not use TLS'
  expect(failure(await callTo(NAME, clear))).toMatchObject({ reason: 'tls', message })
  const { port } = await startTarget(() => {})
  const silent = loopback({ timeoutMs: 50 }).send(get(`https://${NAME}:${port}/`))
  expect(failure(await silent)).toMatchObject({
    reason: 'timeout',
    message: 'no complete response within 0.1 s (during the TLS handshake)',
  })
})
