import { describe, expect, test } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import { complains, refuses } from '../sign-in/flows/acts.ts'
import { nodeNames, pathOf } from '../sign-in/flows/fixture.ts'
import { bootOperators, OPEN, PASSWORD, WITH_MAIL } from './fixture.ts'

const EMAIL = 'newcomer@example.com'

describe('where sign-up is open', () => {
  test('a stranger becomes an operator by the form, with a name and the language of the form', async () => {
    await using fixture = await bootOperators({ flags: OPEN })
    const browser = fixture.browser()

    const login = await browser.visit(await fixture.begin('login', { language: 'de' }))
    const link = login.links.find((url) => url.includes('/registration?from=')) ?? ''
    const form = await browser.follow(await browser.visit(link))
    const typed = { 'traits.email': EMAIL, 'traits.display_name': 'Ada Berg', password: PASSWORD }
    const { session } = await fixture.signedIn(
      await browser.press(form, ['method', 'password'], typed),
    )

    expect(session.identity).toMatchObject({
      schema_id: 'operator',
      traits: { email: EMAIL, display_name: 'Ada Berg', locale: 'de' },
    })
    expect(fixture.people()).toMatchObject([{ email: EMAIL, schema_id: 'operator' }])
  })

  test('nobody has to give a name', async () => {
    await using fixture = await bootOperators({ flags: OPEN })
    const browser = fixture.browser()
    const form = await browser.visit(await fixture.begin('registration'))
    const typed = { 'traits.email': EMAIL, password: PASSWORD }
    const { session } = await fixture.signedIn(
      await browser.press(form, ['method', 'password'], typed),
    )
    const traits: object = session.identity.traits
    expect(traits).toEqual({ email: EMAIL, locale: 'en', tenant_id: SYSTEM_TENANT_ID })
  })

  test('a code from a mail will do, and keeps the name that was typed before it', async () => {
    await using fixture = await bootOperators({ flags: OPEN, env: WITH_MAIL })
    const browser = fixture.browser()
    const form = await browser.visit(await fixture.begin('registration'))
    const typed = { 'traits.email': EMAIL, 'traits.display_name': 'Ada Berg' }
    const sent = await browser.follow(await browser.press(form, ['method', 'code'], typed))
    const { session } = await fixture.signedIn(
      await browser.press(sent, ['method', 'code'], { code: fixture.codeFor(EMAIL) }),
    )
    expect(session.identity).toMatchObject({
      traits: { display_name: 'Ada Berg' },
      verifiable_addresses: [{ verified: true }],
    })
  })

  test('what is wrong is said beside its field, with what was typed still there', async () => {
    await using fixture = await bootOperators({ flags: OPEN })
    const browser = fixture.browser()
    const form = await browser.visit(await fixture.begin('registration'))
    const name = '<script>alert(1)</script>'
    const typed = { 'traits.email': EMAIL, 'traits.display_name': name, password: 'password1' }
    const refused = await browser.press(form, ['method', 'password'], typed)
    expect(refused.status).toBe(422)
    expect(refused.forms[0]?.fields).toMatchObject({
      'traits.email': EMAIL,
      'traits.display_name': name,
    })
    expect(fixture.people()).toEqual([])
  })

  test('the console is told of each newcomer within the commit', async () => {
    const told: unknown[] = []
    await using fixture = await bootOperators({
      flags: OPEN,
      onSignUp: ({ id, tenantId, email }) =>
        told.push({ id, tenantId, email, isThere: fixture.people().some((one) => one.id === id) }),
    })
    const flow = await fixture.flowAt(await fixture.begin('registration'))
    const fields = { method: 'password', traits: { email: EMAIL }, password: PASSWORD }
    const { body } = await fixture.send(flow, fields)
    const { id } = body.identity
    expect(told).toEqual([{ id, tenantId: SYSTEM_TENANT_ID, email: EMAIL, isThere: true }])
  })

  test('nobody becomes an operator where the console cannot take them', async () => {
    await using fixture = await bootOperators({
      flags: OPEN,
      onSignUp: () => {
        throw new Error('no tenant for them')
      },
    })
    const flow = await fixture.flowAt(await fixture.begin('registration'))
    const fields = { method: 'password', traits: { email: EMAIL }, password: PASSWORD }
    expect((await fixture.send(flow, fields)).status).toBe(500)
    expect(fixture.people()).toEqual([])
  })

  test('the console is told of no one whom it makes itself, nor of people of tenants', async () => {
    let told = 0
    await using fixture = await bootOperators({
      flags: OPEN,
      onSignUp: () => {
        told++
      },
    })
    await fixture.operator()
    const tenant = await fixture.tenant()
    await tenant.register(EMAIL)
    expect(told).toBe(0)
  })
})

describe('where sign-up is closed', () => {
  test('no page leads to it, and its address is as good as unknown', async () => {
    await using fixture = await bootOperators()
    const browser = fixture.browser()
    const url = await fixture.begin('login')

    const login = await browser.visit(url)
    expect(login.links.some((link) => link.includes('registration'))).toBe(false)
    expect(login.links.some((link) => link.includes('/recovery?from='))).toBe(true)

    const from = new URL(url).searchParams.get('flow')
    const page = await browser.visit(url.replace(/login\?.*/, `registration?from=${from}`))
    const unknown = await browser.visit(url.replace(/login\?.*/, 'registration?from=nothing'))
    expect([page.status, page.text]).toEqual([404, unknown.text])
    expect(fixture.begin('registration')).rejects.toThrow('flow not found')
  })

  test('a form that was begun while it was open leads nowhere', async () => {
    await using fixture = await bootOperators({ flags: OPEN })
    const flow = await fixture.flowAt(await fixture.begin('registration'))
    const closed = fixture.restarted({})
    const fields = { method: 'password', traits: { email: EMAIL }, password: PASSWORD }

    expect(await closed.send(flow, fields)).toMatchObject(refuses(404, 'flow_not_found'))
    const headers = { accept: 'application/json' }
    expect(await closed.app.raw(pathOf(flow.ui.action), { headers })).toMatchObject(
      refuses(404, 'flow_not_found'),
    )
    expect(fixture.people()).toEqual([])
  })

  test('neither a code to sign in nor one to recover makes an account', async () => {
    await using fixture = await bootOperators({ env: WITH_MAIL })
    const login = await fixture.flowAt(await fixture.begin('login'))
    await fixture.send(login, { method: 'code', identifier: EMAIL })
    const recovery = await fixture.flowAt(await fixture.begin('recovery'))
    await fixture.send(recovery, { method: 'code', email: EMAIL })
    const wrong = await fixture.send(login, { method: 'code', code: '000000' })
    expect(wrong).toMatchObject(complains(4010008, 'code'))
    expect([fixture.people(), fixture.sentTo(EMAIL)]).toEqual([[], []])
  })

  test('the people of tenants sign up as ever', async () => {
    await using fixture = await bootOperators()
    const tenant = await fixture.tenant()
    const { hosted_url: url } = await tenant.start('login')
    const page = await fixture.browser().visit(url)
    const link = page.links.find((one) => one.includes('/registration?from=')) ?? ''
    expect((await fixture.browser().visit(link)).status).toBe(303)
    const { identity } = await tenant.register(EMAIL)
    expect(identity.traits).toEqual({ email: EMAIL, tenant_id: tenant.id })
    expect(nodeNames(await tenant.start('registration'))).toContain('default:traits.email')
  })
})
