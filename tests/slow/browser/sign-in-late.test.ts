import { afterAll, expect, test } from 'bun:test'
import { serve } from '../../../src/http/serve.ts'
import { HOUR, MINUTE } from '../../engines/gate/fixture.ts'
import { bootFlows } from '../../engines/gate/sign-in/flows/fixture.ts'
import { launchBrowser } from '../../support/browser.ts'
import { newPerson, PASSWORD } from '../../support/person.ts'
import { startRelyingApp } from '../../support/relying-app.ts'

/** Runs in this process, so that its clock can be turned. */
const fixture = await bootFlows()
const listener = serve(fixture.app.app, { host: '127.0.0.1', port: 0 }, fixture.app.platform.log)
const app = startRelyingApp({ url: listener.url, key: fixture.key })
const browser = await launchBrowser()
// The browser ends with its last page.
await browser.newPage()

afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
  await listener.stop()
  await fixture[Symbol.asyncDispose]()
})

/** A user who has not signed in yet. */
async function newUser(email: string) {
  const credentials = { password: { config: { password: PASSWORD } } }
  await fixture.createIdentity({ traits: { email }, credentials })
  return newPerson(browser, app)
}

test('An expired sign-in starts again with a message, when its form is sent or its page reloaded', async () => {
  const email = 'sam@example.com'
  await using sam = await newUser(email)
  await sam.starts('login')
  fixture.clock.jump(HOUR + MINUTE)
  await sam.types({ 'Email address': email, Password: PASSWORD })
  await sam.presses('Sign in with password')
  await sam.isTold('This sign-in has expired.')
  const before = sam.page.url()
  fixture.clock.jump(HOUR + MINUTE)
  await sam.page.reload()
  await sam.isTold('This sign-in has expired.')
  expect(sam.page.url()).not.toBe(before)
  await sam.types({ 'Email address': email, Password: PASSWORD })
  await sam.presses('Sign in with password')
  await sam.isSignedInAs(email)
}, 60_000)

test('A change an hour after the sign-in asks for the password, and continues afterwards', async () => {
  const email = 'uma@example.com'
  await using uma = await newUser(email)
  await uma.signsIn(email)
  await uma.isSignedInAs(email)
  fixture.clock.jump(HOUR - MINUTE)
  await uma.follows('Account')
  await uma.reads('Your Acme account')
  fixture.clock.jump(2 * MINUTE)
  const password = uma.section('Password')
  const changes = async () => {
    await uma.types({ Password: 'seven green bicycles' }, password)
    await uma.presses('Save', password)
  }
  await changes()
  await uma.reads('Sign in to Acme again')
  expect(await uma.reading()).toContain(email)
  await uma.types({ Password: PASSWORD })
  await uma.presses('Sign in')
  await uma.reads('Your Acme account')
  await changes()
  await uma.isTold('Your changes have been saved.')
  await uma.follows('Back to the app')
  await uma.isSignedInAs(email)
}, 60_000)

test('A recovery email that is opened too late leads to a new recovery', async () => {
  const email = 'vic@example.com'
  await using vic = await newUser(email)
  const asks = async () => {
    await vic.types({ 'Email address': email })
    await vic.presses('Continue')
    await vic.reads('Enter the code from Acme')
  }
  await vic.starts('recovery')
  await asks()
  fixture.clock.jump(16 * MINUTE)
  await vic.types({ 'Verification code': fixture.codeFor(email) })
  await vic.presses('Continue')
  await vic.isTold('This code is incorrect or has expired.')
  fixture.clock.jump(HOUR)
  await vic.page.goto(fixture.linkFor(email))
  await vic.isTold('This recovery has expired. Start again.')
  await asks()
}, 60_000)
