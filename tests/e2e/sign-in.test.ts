import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { appCode, wrongAppCode } from '../support/authenticator.ts'
import { compileBinary } from '../support/binary.ts'
import { LOOKS, launchBrowser } from '../support/browser.ts'
import { type Eyes, newPerson, PASSWORD } from '../support/person.ts'
import {
  codeIn,
  linkIn,
  type SignInFixture,
  startSignInFixture,
} from '../support/sign-in-fixture.ts'
import { newAccount } from '../support/social/index.ts'

const NEW_PASSWORD = 'seven green bicycles'
const [, WIDE_DARK, NARROW, NARROW_DARK] = LOOKS

/** Each test is some pages long, and the machine may have other things to do. */
const LONG = 60_000

let browser: Browser
let fixture: SignInFixture

beforeAll(async () => {
  await compileBinary()
  fixture = await startSignInFixture()
  browser = await launchBrowser()
  // The last page that is closed takes the browser with it.
  await browser.newPage()
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await fixture?.[Symbol.asyncDispose]()
})

const somebody = (eyes?: Eyes) => newPerson(browser, fixture.app, eyes)

/** Six digits other than these. */
const otherThan = (code: string): string => (code === '000000' ? '111111' : '000000')

describe('who signs up with a password', () => {
  const EMAIL = 'ada@example.com'

  test(
    'is told beside the field what is wrong with it, and keeps the address',
    async () => {
      await using ada = await somebody()
      await ada.opensApp()
      await ada.follows('Sign up')
      await ada.reads('Create your Paper shop account')
      await ada.looks('sign-up')

      await ada.types({ 'Email address': EMAIL, Password: 'short' })
      await ada.presses('Create account')
      await ada.isTold('This password is too short.')
      expect(await ada.remarkOn('Password')).toContain('at least 8 characters')
      expect(await ada.field('Email address').inputValue()).toBe(EMAIL)
      expect(await ada.field('Password').inputValue()).toBe('')
      await ada.looks('sign-up-too-short')

      await ada.types({ Password: PASSWORD })
      await ada.presses('Create account')
      await ada.isSignedInAs(EMAIL)
    },
    LONG,
  )

  test(
    'opens the link of the mail on a phone, and signs in there to confirm the address',
    async () => {
      const mail = await fixture.mailTo(EMAIL)
      await using ada = await somebody({ look: NARROW_DARK })
      await ada.page.goto(linkIn(mail))
      await ada.reads('Verify your email address for Paper shop')
      await ada.looks('confirm-by-link-narrow-dark')

      await ada.presses('Continue')
      await ada.isTold('Sign in to confirm that this account is yours.')
      await ada.looks('confirm-choice-narrow-dark')
      expect(await fixture.isConfirmed(EMAIL)).toBe(false)
      await ada.presses('Sign in to verify')
      await ada.isTold(`Sign in to verify ${EMAIL}.`)
      await ada.looks('confirm-sign-in-narrow-dark')
      await ada.types({ Password: PASSWORD })
      await ada.presses('Sign in with password')
      await ada.isTold('Your email address is verified.')
      expect(await fixture.isConfirmed(EMAIL)).toBe(true)
      await ada.looks('confirmed-narrow-dark')

      await ada.follows('Continue')
      await ada.isTold('Nobody is signed in.')
    },
    LONG,
  )

  test(
    'signs in with it, after one that is wrong, and out again',
    async () => {
      await using ada = await somebody()
      await ada.opensApp()
      await ada.follows('Sign in')
      await ada.reads('Sign in to Paper shop')
      await ada.looks('sign-in')

      await ada.types({ 'Email address': EMAIL, Password: NEW_PASSWORD })
      await ada.presses('Sign in with password')
      const banner = ada.page.getByRole('alert')
      await banner.waitFor()
      expect(await banner.textContent()).toStartWith('Incorrect email address or password.')
      expect(await ada.field('Email address').inputValue()).toBe(EMAIL)
      const said = await banner.boundingBox()
      const asked = await ada.field('Email address').boundingBox()
      expect((said?.y ?? 0) + (said?.height ?? 0)).toBeLessThan(asked?.y ?? 0)
      await ada.looks('sign-in-wrong')

      await ada.types({ Password: PASSWORD })
      await ada.presses('Sign in with password')
      await ada.isSignedInAs(EMAIL)
      const token = await ada.token()
      expect(await fixture.whoami(token)).toBe(200)

      await ada.presses('Sign out')
      await ada.isTold('Nobody is signed in.')
      expect(await fixture.whoami(token)).toBe(401)
    },
    LONG,
  )

  test(
    'cannot do so twice with one address, and signs in instead',
    async () => {
      await using ada = await somebody()
      await ada.starts('registration')
      await ada.types({ 'Email address': EMAIL, Password: PASSWORD })
      await ada.presses('Create account')
      await ada.isTold('An account with this email address already exists.')
      await ada.looks('sign-up-taken')

      await ada.follows('Sign in instead')
      await ada.reads('Sign in to Paper shop')
      await ada.types({ 'Email address': EMAIL, Password: PASSWORD })
      await ada.presses('Sign in with password')
      await ada.isSignedInAs(EMAIL)
    },
    LONG,
  )
})

test(
  'an address is confirmed by typing in the code of the mail',
  async () => {
    const email = 'bea@example.com'
    await fixture.create(email)
    await using bea = await somebody()
    await bea.opensApp()
    await bea.follows('Confirm address')
    await bea.reads('Verify your email address for Paper shop')
    await bea.looks('confirm')

    await bea.types({ 'Email address': email })
    await bea.presses('Continue')
    await bea.reads('Enter the code from Paper shop')
    await bea.looks('confirm-code')

    const code = codeIn(await fixture.mailTo(email))
    await bea.types({ 'Verification code': otherThan(code) })
    await bea.presses('Continue')
    await bea.isTold('This code is incorrect')
    expect(await bea.remarkOn('Verification code')).toContain('This code is incorrect')
    expect(await fixture.isConfirmed(email)).toBe(false)
    await bea.looks('confirm-wrong')

    await bea.types({ 'Verification code': code })
    await bea.presses('Continue')
    await bea.looks('confirm-choice')
    await bea.presses('Sign in to verify')
    await bea.types({ Password: PASSWORD })
    await bea.presses('Sign in with password')
    await bea.isTold('Your email address is verified.')
    expect(await fixture.isConfirmed(email)).toBe(true)
  },
  LONG,
)

test(
  'a mailed code signs in, after one that is wrong',
  async () => {
    const email = 'cem@example.com'
    await fixture.create(email)
    await using cem = await somebody({ look: WIDE_DARK })
    await cem.starts('login')
    await cem.presses('Email me a sign-in code')
    await cem.isTold('is required')
    expect(await cem.remarkOn('Email address')).toContain('Email address')

    await cem.types({ 'Email address': email })
    await cem.presses('Email me a sign-in code')
    await cem.reads('Enter the code from Paper shop')
    await cem.looks('sign-in-code-dark')

    const code = codeIn(await fixture.mailTo(email))
    await cem.types({ 'Verification code': otherThan(code) })
    await cem.presses('Continue')
    await cem.isTold('This code is incorrect')
    await cem.looks('sign-in-code-wrong-dark')

    await cem.types({ 'Verification code': code })
    await cem.presses('Continue')
    await cem.isSignedInAs(email)
  },
  LONG,
)

test(
  'an authenticator is asked for at the next sign-in, and a recovery code stands in for it',
  async () => {
    const email = 'dora@example.com'
    await fixture.create(email)
    await using dora = await somebody()
    await dora.signsIn(email)
    await dora.isSignedInAs(email)
    await dora.follows('Account')
    await dora.reads('Your Paper shop account')
    await dora.looks('settings')

    const secret = await dora.shownKey()
    const app = dora.section('Authenticator app')
    await dora.types({ 'Code from your authenticator app': wrongAppCode(secret) }, app)
    await dora.presses('Save', app)
    await dora.isTold('Incorrect code')
    expect(await dora.remarkOn('Code from your authenticator app')).toContain('Incorrect code')
    expect(await dora.shownKey()).toBe(secret)

    await dora.types({ 'Code from your authenticator app': appCode(secret) }, app)
    await dora.presses('Save', app)
    await dora.isTold('Your changes have been saved.')
    const { parsed: notice } = await fixture.mailTo(email)
    expect(notice.subject).toBe('Two-factor authentication turned on for Paper shop')
    await dora.looks('settings-authenticator')

    const recovery = dora.section('Recovery codes')
    await dora.presses('Generate recovery codes', recovery)
    await recovery.getByRole('listitem').first().waitFor()
    const codes = await recovery.getByRole('listitem').allTextContents()
    expect(codes).toHaveLength(10)
    await dora.looks('settings-recovery-codes')
    await dora.presses("I've saved my recovery codes", recovery)
    await dora.isTold('You have recovery codes.')
    expect(await dora.reading()).not.toContain(codes[0] as string)

    await dora.signsOut()
    await dora.signsIn(email)
    await dora.reads('Two-factor authentication for Paper shop')
    await dora.looks('second-factor')
    await dora.types({ 'Code from your authenticator app': wrongAppCode(secret) })
    await dora.presses('Sign in with authenticator app')
    await dora.isTold('Incorrect code')
    await dora.looks('second-factor-wrong')
    await dora.types({ 'Code from your authenticator app': appCode(secret, 1) })
    await dora.presses('Sign in with authenticator app')
    await dora.isSignedInAs(`${email}, aal2`)

    await dora.signsOut()
    await dora.signsIn(email)
    await dora.page.getByText('Use a recovery code instead').click()
    await dora.types({ 'Recovery code': 'no code at all' })
    await dora.presses('Sign in with recovery code')
    await dora.isTold('Incorrect recovery code.')
    await dora.looks('second-factor-recovery-code')
    await dora.types({ 'Recovery code': codes[3] as string })
    await dora.presses('Sign in with recovery code')
    await dora.isSignedInAs(`${email}, aal2`)
  },
  LONG,
)

test(
  'an account is recovered by mail, and gets another password',
  async () => {
    const email = 'emil@example.com'
    await fixture.create(email)
    await using emil = await somebody()
    await emil.starts('login')
    await emil.follows('Forgot your password?')
    await emil.reads('Recover your Paper shop account')
    await emil.looks('recovery')

    await emil.types({ 'Email address': email })
    await emil.presses('Continue')
    await emil.reads('Enter the code from Paper shop')
    const code = codeIn(await fixture.mailTo(email))
    await emil.types({ 'Verification code': otherThan(code) })
    await emil.presses('Continue')
    await emil.isTold('This code is incorrect')
    await emil.looks('recovery-code-wrong')

    await emil.types({ 'Verification code': code })
    await emil.presses('Continue')
    await emil.reads('Your Paper shop account')
    await emil.looks('recovered')
    await emil.types({ Password: NEW_PASSWORD }, emil.section('Password'))
    await emil.presses('Save', emil.section('Password'))
    await emil.isTold('Your changes have been saved.')

    await emil.signsIn(email)
    await emil.isTold('Incorrect email address or password.')
    await emil.types({ Password: NEW_PASSWORD })
    await emil.presses('Sign in with password')
    await emil.isSignedInAs(email)
  },
  LONG,
)

test(
  'another password signs out all other browsers, and not the one that it was set in',
  async () => {
    const email = 'fay@example.com'
    await fixture.create(email)
    await using fay = await somebody()
    await using fayOnThePhone = await somebody({ look: NARROW })
    for (const one of [fay, fayOnThePhone]) {
      await one.signsIn(email)
      await one.isSignedInAs(email)
    }
    await fayOnThePhone.follows('Account')
    await fayOnThePhone.reads('Your Paper shop account')
    await fayOnThePhone.looks('settings-narrow')

    await fay.opensSettings()
    const password = fay.section('Password')
    await fay.types({ Password: email }, password)
    await fay.presses('Save', password)
    await fay.isTold('This password is too similar to your email address.')
    await fay.looks('settings-password-refused')
    await fay.types({ Password: NEW_PASSWORD }, password)
    await fay.presses('Save', password)
    await fay.isTold('Your changes have been saved.')
    await fay.follows('Back to the app')

    await fay.isSignedInAs(email)
    expect(await fixture.whoami(await fayOnThePhone.token())).toBe(401)
    await fayOnThePhone.opensApp()
    await fayOnThePhone.isTold('Nobody is signed in.')
    const { parsed: notice } = await fixture.mailTo(email)
    expect(notice.subject).toBe('Your Paper shop password was changed')
  },
  LONG,
)

test(
  'an account elsewhere signs up and in, and a second one is connected',
  async () => {
    const email = 'gus@example.com'
    const [google, gitlab] = [newAccount({ email }), newAccount({ email: 'gus@gitlab.example' })]
    await using gus = await somebody()
    fixture.provider.signInAs(google)
    await gus.starts('registration')
    await gus.presses('Sign up with Google')
    await gus.reads('google')
    await gus.presses('Cancel')
    await gus.isTold('Sign-in with Google was denied or cancelled.')
    await gus.looks('sign-up-cancelled')

    await gus.presses('Sign up with Google')
    await gus.reads('google')
    await gus.presses('Continue')
    await gus.isSignedInAs(email)
    expect(await fixture.isConfirmed(email)).toBe(true)

    await gus.signsOut()
    await gus.follows('Sign in')
    await gus.presses('Sign in with Google')
    await gus.reads('google')
    await gus.presses('Continue')
    await gus.isSignedInAs(email)

    fixture.provider.signInAs(gitlab)
    await gus.opensSettings()
    await gus.presses('Connect GitLab')
    await gus.reads('gitlab')
    await gus.presses('Continue')
    await gus.isTold('Your changes have been saved.')
    await gus.section('Connected accounts').getByText('Disconnect GitLab').waitFor()
    await gus.looks('settings-connected')

    await gus.signsOut()
    await gus.follows('Sign in')
    await gus.presses('Sign in with GitLab')
    await gus.reads('gitlab')
    await gus.presses('Continue')
    await gus.isSignedInAs(email)
  },
  LONG,
)

test(
  'without an app to go back to, a sign-in ends at the account',
  async () => {
    const account = newAccount({ email: 'kay@example.com' })
    await using kay = await somebody()
    const lands = async (words: string) => {
      await kay.reads('Your Paper shop account')
      await kay.isTold(words)
    }
    fixture.provider.signInAs(account)
    await kay.page.goto((await fixture.start('registration')).hosted_url)
    await kay.presses('Sign up with Google')
    await kay.reads('google')
    await kay.presses('Continue')
    await lands("Your account is ready. You're signed in as kay@example.com.")
    await kay.looks('signed-up-without-app')
    const password = kay.section('Password')
    await kay.types({ Password: PASSWORD }, password)
    await kay.presses('Save', password)
    await kay.isTold('Your changes have been saved.')

    await kay.page.goto(await wayToGoogle(await fixture.start('login')))
    await kay.reads('google')
    await kay.presses('Continue')
    await lands("You're signed in as kay@example.com.")
    await kay.looks('signed-in-without-app')
    await kay.page.reload()
    await lands("You're signed in as kay@example.com.")

    await kay.page.goto((await fixture.start('login')).hosted_url)
    await kay.types({ 'Email address': 'kay@example.com', Password: PASSWORD })
    await kay.presses('Sign in with password')
    await lands("You're signed in as kay@example.com.")
  },
  LONG,
)

/** Where a page of the tenant's own is told to send the browser. */
// biome-ignore lint/suspicious/noExplicitAny: a flow
async function wayToGoogle({ ui }: any): Promise<string> {
  const csrf_token = ui.nodes[0].attributes.value
  const answer = await fetch(ui.action, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'oidc', provider: 'google', csrf_token }),
  })
  expect(answer.status).toBe(422)
  return (await answer.json()).redirect_browser_to
}

test(
  'without scripts, people sign up and in, and are asked for their authenticator',
  async () => {
    const email = 'hana@example.com'
    await using hana = await somebody({ javaScript: false })
    await hana.opensApp()
    await hana.follows('Sign up')
    await hana.types({ 'Email address': email, Password: 'short' })
    await hana.presses('Create account')
    await hana.isTold('This password is too short.')
    await hana.types({ Password: PASSWORD })
    await hana.presses('Create account')
    await hana.isSignedInAs(email)

    const secret = await hana.enrols()
    await hana.signsOut()
    await hana.signsIn(email)
    await hana.reads('Two-factor authentication for Paper shop')
    await hana.looks('second-factor-without-scripts')
    await hana.types({ 'Code from your authenticator app': appCode(secret, 1) })
    await hana.presses('Sign in with authenticator app')
    await hana.isSignedInAs(`${email}, aal2`)
  },
  LONG,
)

test(
  'a German browser is spoken to in German, and so are its mails',
  async () => {
    const [email, other] = ['ida@example.com', 'ida@example.org']
    await using ida = await somebody({ language: 'de-DE', look: NARROW_DARK })
    await ida.starts('registration')
    await ida.reads('Konto bei Paper shop erstellen')
    expect(await ida.page.locator('html').getAttribute('lang')).toBe('de')
    await ida.types({ 'E-Mail-Adresse': email, Passwort: 'kurz' })
    await ida.presses('Konto erstellen')
    await ida.isTold('Dieses Passwort ist zu kurz.')
    await ida.looks('sign-up-german')
    await ida.types({ Passwort: PASSWORD })
    await ida.presses('Konto erstellen')
    await ida.isSignedInAs(email)
    const { parsed: welcome } = await fixture.mailTo(email)
    expect(welcome.subject).toBe('Bestätige deine E-Mail-Adresse für Paper shop')
    expect(welcome.text).toContain('Der Code ist 15 Minuten gültig')

    await ida.follows('Account')
    await ida.reads('Dein Konto bei Paper shop')
    await ida.looks('settings-german')

    await fixture.create(other)
    await ida.starts('login')
    await ida.types({ 'E-Mail-Adresse': other })
    await ida.presses('Anmeldecode per E-Mail senden')
    await ida.reads('Code von Paper shop eingeben')
    await ida.looks('sign-in-code-german')
    const mail = await fixture.mailTo(other)
    expect(mail.parsed.subject).toBe('Dein Anmeldecode für Paper shop')
    await ida.types({ Bestätigungscode: codeIn(mail) })
    await ida.presses('Weiter')
    await ida.isSignedInAs(other)
  },
  LONG,
)
