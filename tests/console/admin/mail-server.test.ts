import { expect, test } from 'bun:test'
import { startMailServer } from '../../support/mail-server.ts'
import { audited, bootConsole, SECOND, useConsole, WITH_MAIL } from '../fixture.ts'

const PAGE = '/installation/mail-server'

const app = await useConsole()
const admin = await app.newAdmin()
const SERVER = {
  security: 'tls',
  host: 'smtp.example.com',
  port: '',
  from: 'Acme <gate@example.com>',
}
const LOGIN = { user: 'ada', password: 'tøp:secret/1' }
const save = (fields: Record<string, string>) => admin.send(PAGE, fields)
const stored = () => app.installationSettings.storedIn('mail')

test('A mail server is saved, in effect at once, and its password never shown again', async () => {
  ;(await admin.open(PAGE)).says('Not configured', 'Set up a mail server').omits('Send test email')
  const saved = await admin.follow(await save({ ...SERVER, ...LOGIN }))
  saved.says('Mail server saved', 'Emails are sent through smtp.example.com:465', 'Send test email')
  saved.omits('t%C3%B8p', 'tøp')
  expect(app.installationSettings.current().mail).toEqual({
    smtpUrl: 'smtps://ada:t%C3%B8p%3Asecret%2F1@smtp.example.com:465',
    from: SERVER.from,
  })
  expect(app.mail.hasServer).toBe(true)
  await admin.sees('/installation/configuration?q=mail', '[redacted]')
  expect(JSON.stringify(audited(app, 'installation_settings.changed'))).not.toMatch(
    /p:secret|C3%B8/,
  )
})

test('An empty password keeps the saved one, but for the same host, port and user only', async () => {
  await save({ ...SERVER, ...LOGIN })
  const kept = stored()?.smtp_url
  await save({ ...SERVER, user: 'ada', password: '', from: 'new@example.com' })
  expect(stored()).toEqual({ smtp_url: kept as string, from: 'new@example.com' })
  await save({ ...SERVER, user: 'ada', password: '', port: '465' })
  expect(stored()?.smtp_url).toBe(kept)
  const others: Record<string, string>[] = [
    { host: 'evil.example' },
    { port: '2525' },
    { security: 'starttls' },
    { user: 'eve' },
  ]
  for (const change of others) {
    const refused = await save({ ...SERVER, user: 'ada', password: '', ...change })
    expect([refused.status, refused.wrong]).toEqual([422, ['password']])
  }
  expect(stored()?.smtp_url).toBe(kept)
})

test.each([
  [{ host: 'a b' }, ['host']],
  [{ host: '' }, ['host']],
  [{ port: '70000' }, ['port']],
  [{ port: 'x', user: 'ada' }, ['port', 'password']],
  [{ password: 'secret-1' }, ['user']],
  [{ from: 'nobody' }, ['from']],
  [{ from: '' }, ['from']],
])('%j is refused at its fields, without the password', async (change, fields) => {
  await admin.send(`${PAGE}/remove`)
  const page = await save({ ...SERVER, ...change })
  expect([page.status, page.wrong]).toEqual([422, fields])
  page.omits('secret-1')
  expect(stored()).toBeUndefined()
})

test('A test email goes to the admin, and shows what the server said and what to do', async () => {
  await using server = await startMailServer()
  const here = { security: 'starttls', host: '127.0.0.1', port: `${server.port}` }
  await save({ ...here, from: 'gate@example.com' })
  const sent = await admin.send(`${PAGE}/test`)
  sent.says(`127.0.0.1:${server.port} accepted the message`, admin.email, '← 220', '→ MAIL FROM')
  expect(server.received[0]?.to).toEqual([admin.email])
  server.refuses('rcpt', 550, 'relaying <b>denied')
  const refused = await admin.send(`${PAGE}/test`)
  refused.says('The message was not accepted', 'relaying &lt;b>denied', "check the sender's domain")
  expect(audited(app, 'mail_server.tested').map(({ detail }) => JSON.parse(detail))).toEqual([
    { accepted: true },
    { accepted: false },
  ])
})

test('Held emails go out as soon as a mail server is saved, and are held when it is removed', async () => {
  await admin.send(`${PAGE}/remove`)
  await using server = await startMailServer()
  const mail = { tenantId: null, about: null, kind: 'notice', recipient: 'ada@example.com' }
  const post = () => {
    const now = app.clock.now()
    const body = { subject: 'Hello', text: 'Hello', html: 'Hello', expiresAt: now + 3600 * SECOND }
    return app.db.commit(() => app.mail.post({ ...mail, ...body }, now))
  }
  const stateOf = (id: string) => app.mail.outbox.read('all', id)?.state
  const held = await post()
  ;(await admin.open(PAGE)).says('held in the outbox')
  await save({
    security: 'starttls',
    host: '127.0.0.1',
    port: `${server.port}`,
    from: 'a@example.com',
  })
  await app.clock.settled()
  expect(stateOf(held)).toBe('sent')
  await admin.send(`${PAGE}/remove`)
  expect(stateOf(await post())).toBe('kept')
})

test('A mail server of the environment is shown without its password and can only be tested', async () => {
  const env = { ...WITH_MAIL, GATEHOUSE_MAIL_SMTP_URL: 'smtp://ada:topsecret@127.0.0.1:9' }
  await using other = await bootConsole({ env })
  const operator = await other.newAdmin()
  const page = await operator.open(PAGE)
  page.says('Set outside the console', '[redacted]', 'gate@example.org', 'Send test email')
  page.omits('topsecret', 'Save mail server', 'Remove mail server')
  expect((await operator.send(PAGE, SERVER)).status).toBe(422)
  ;(await operator.send(`${PAGE}/test`)).says('refuses the connection').omits('topsecret')
  expect(other.installationSettings.current().mail.smtpUrl).toBe(env.GATEHOUSE_MAIL_SMTP_URL)
})
