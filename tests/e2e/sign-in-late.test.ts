import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { serve } from '../../src/http/serve.ts'
import { HOUR, MINUTE } from '../engines/gate/fixture.ts'
import { bootFlows, type FlowFixture } from '../engines/gate/sign-in/flows/fixture.ts'
import { launchBrowser } from '../support/browser.ts'
import { newPerson, PASSWORD } from '../support/person.ts'
import { type RelyingApp, startRelyingApp } from '../support/relying-app.ts'

const LONG = 60_000

/** The application within this process, so that its clock can be turned. */
let fixture: FlowFixture
let listener: ReturnType<typeof serve>
let app: RelyingApp
let browser: Browser

beforeAll(async () => {
  fixture = await bootFlows()
  listener = serve(fixture.app.app, { host: '127.0.0.1', port: 0 }, fixture.app.platform.log)
  app = startRelyingApp({ url: listener.url, key: fixture.key })
  browser = await launchBrowser()
  // The last page that is closed takes the browser with it.
  await browser.newPage()
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await app?.[Symbol.asyncDispose]()
  await listener?.stop()
  await fixture?.[Symbol.asyncDispose]()
})

/** Somebody who has an account, not signed in yet. */
async function known(email: string) {
  const credentials = { password: { config: { password: PASSWORD } } }
  await fixture.createIdentity({ traits: { email }, credentials })
  return newPerson(browser, app)
}

test(
  'a sign-in that was left open for too long begins anew, and says why',
  async () => {
    const email = 'sam@example.com'
    await using sam = await known(email)
    await sam.starts('login')
    fixture.clock.jump(HOUR + MINUTE)
    await sam.types({ 'Email address': email, Password: PASSWORD })
    await sam.presses('Sign in with password')
    await sam.isTold('This sign-in has expired.')
    await sam.looks('sign-in-late')

    await sam.types({ 'Email address': email, Password: PASSWORD })
    await sam.presses('Sign in with password')
    await sam.isSignedInAs(email)
  },
  LONG,
)

test(
  'a page that is loaded again after too long is the new one, whose form is good',
  async () => {
    const email = 'tea@example.com'
    await using tea = await known(email)
    await tea.starts('login')
    const before = tea.page.url()
    fixture.clock.jump(HOUR + MINUTE)
    await tea.page.reload()
    await tea.isTold('This sign-in has expired.')
    expect(tea.page.url()).not.toBe(before)

    await tea.types({ 'Email address': email, Password: PASSWORD })
    await tea.presses('Sign in with password')
    await tea.isSignedInAs(email)
  },
  LONG,
)

test(
  'who signed in long ago does so once more before a change, and then comes back to it',
  async () => {
    const email = 'uma@example.com'
    await using uma = await known(email)
    await uma.signsIn(email)
    await uma.isSignedInAs(email)
    fixture.clock.jump(HOUR - MINUTE)
    await uma.follows('Account')
    await uma.reads('Your Acme account')
    fixture.clock.jump(2 * MINUTE)

    const password = uma.section('Password')
    await uma.types({ Password: 'seven green bicycles' }, password)
    await uma.presses('Save', password)
    await uma.reads('Sign in to Acme again')
    expect(await uma.reading()).toContain(email)
    await uma.looks('sign-in-again')
    await uma.types({ Password: PASSWORD })
    await uma.presses('Sign in')
    await uma.reads('Your Acme account')

    await uma.types({ Password: 'seven green bicycles' }, password)
    await uma.presses('Save', password)
    await uma.isTold('Your changes have been saved.')
    await uma.follows('Back to the app')
    await uma.isSignedInAs(email)
  },
  LONG,
)

test(
  'a mail that is opened too late leads to a page that says so',
  async () => {
    const email = 'vic@example.com'
    await using vic = await known(email)
    await vic.starts('recovery')
    await vic.types({ 'Email address': email })
    await vic.presses('Continue')
    await vic.reads('Enter the code from Acme')
    fixture.clock.jump(16 * MINUTE)
    await vic.types({ 'Verification code': fixture.codeFor(email) })
    await vic.presses('Continue')
    await vic.isTold('This code is incorrect or has expired.')
    await vic.looks('recovery-code-late')

    fixture.clock.jump(HOUR)
    await vic.page.goto(fixture.linkFor(email))
    await vic.isTold('This recovery has expired. Start again.')
    await vic.looks('recovery-late')
    await vic.types({ 'Email address': email })
    await vic.presses('Continue')
    await vic.reads('Enter the code from Acme')
  },
  LONG,
)
