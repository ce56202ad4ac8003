import { afterAll, expect, test } from 'bun:test'
import { appCode, wrongAppCode } from '../../support/authenticator.ts'
import { until } from '../../support/binary.ts'
import { launchBrowser, NARROW_DARK, WIDE, WIDE_DARK } from '../../support/browser.ts'
import { type Eyes, newPerson, PASSWORD, type Person } from '../../support/person.ts'
import { codeIn, linkIn, startSignInFixture } from '../../support/sign-in-fixture.ts'
import { newAccount } from '../../support/social/index.ts'

const NEW_PASSWORD = 'seven green bicycles'

const fixture = await startSignInFixture()
const browser = await launchBrowser()
// The browser ends with its last page.
await browser.newPage()

afterAll(async () => {
  await browser.close()
  await fixture[Symbol.asyncDispose]()
})

const newVisitor = (eyes?: Eyes) => newPerson(browser, fixture.app, eyes)

/** A user of the tenant who has signed in. */
async function signedIn(email: string): Promise<Person> {
  await fixture.create(email)
  const person = await newVisitor()
  await person.signsIn(email)
  await person.isSignedInAs(email)
  return person
}

const walk = (title: string, steps: () => Promise<void>) => test(title, steps, 120_000)

walk('A sign-up shows its errors, and its email is verified on a phone', async () => {
  const email = 'ada@example.com'
  await using ada = await newVisitor()
  await ada.opensApp()
  await ada.follows('Sign up')
  await ada.reads('Create your Paper shop account')
  await ada.types({ 'Email address': email, Password: 'short' })
  await ada.presses('Create account')
  await ada.isTold('This password is too short.')
  expect(await ada.remarkOn('Password')).toContain('at least 8 characters')
  expect(await ada.field('Email address').inputValue()).toBe(email)
  expect(await ada.field('Password').inputValue()).toBe('')
  await ada.types({ Password: PASSWORD })
  await ada.presses('Create account')
  await ada.isSignedInAs(email)

  await using phone = await newVisitor({ look: NARROW_DARK })
  await phone.page.goto(linkIn(await fixture.mailTo(email)))
  await phone.reads('Verify your email address for Paper shop')
  await phone.presses('Continue')
  await phone.isTold('Sign in to confirm that this account is yours.')
  expect(await fixture.isConfirmed(email)).toBe(false)
  await phone.presses('Sign in to verify')
  await phone.isTold(`Sign in to verify ${email}.`)
  await phone.types({ Password: PASSWORD })
  await phone.presses('Sign in with password')
  await phone.isTold('Your email address is verified.')
  expect(await fixture.isConfirmed(email)).toBe(true)
  await phone.looks('confirmed-narrow-dark')
  await phone.follows('Continue')
  await phone.isTold('Nobody is signed in.')
})

walk('A wrong password keeps the email, and another tab signs in, too', async () => {
  const email = 'ben@example.com'
  await fixture.create(email)
  await using ben = await newVisitor()
  const tab = await ben.newTab()
  await tab.starts('login')
  await ben.opensApp()
  await ben.follows('Sign in')
  await ben.types({ 'Email address': email, Password: NEW_PASSWORD })
  await ben.presses('Sign in with password')
  const banner = ben.page.getByRole('alert')
  await banner.waitFor()
  expect(await banner.textContent()).toStartWith('Incorrect email address or password.')
  expect(await ben.field('Email address').inputValue()).toBe(email)
  const [above, below] = [await banner.boundingBox(), await ben.field('Password').boundingBox()]
  expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThan(below?.y ?? 0)
  await ben.types({ Password: PASSWORD })
  await ben.presses('Sign in with password')
  await ben.isSignedInAs(email)
  await tab.types({ 'Email address': email, Password: PASSWORD })
  await tab.presses('Sign in with password')
  await tab.isSignedInAs(email)
  const token = await tab.token()
  expect(await fixture.whoami(token)).toBe(200)
  await tab.signsOut()
  expect(await fixture.whoami(token)).toBe(401)
})

walk('A code by email signs in, after a wrong one, and a reload sends no form again', async () => {
  const email = 'cem@example.com'
  await fixture.create(email)
  await using cem = await newVisitor({ look: WIDE_DARK })
  await cem.starts('login')
  await cem.presses('Email me a sign-in code')
  await cem.isTold('is required')
  await cem.types({ 'Email address': email })
  await cem.presses('Email me a sign-in code')
  await cem.reads('Enter the code from Paper shop')
  const methods: string[] = []
  cem.page.on('request', (request) => methods.push(request.method()))
  await cem.page.reload()
  expect(methods).not.toContain('POST')
  const code = codeIn(await fixture.mailTo(email))
  await cem.types({ 'Verification code': code === '000000' ? '111111' : '000000' })
  await cem.presses('Continue')
  await cem.isTold('This code is incorrect')
  await cem.looks('sign-in-code-wrong-dark')
  await cem.types({ 'Verification code': code })
  await cem.presses('Continue')
  await cem.isSignedInAs(email)
})

walk('An authenticator app is asked for at the next sign-in, or a recovery code', async () => {
  const email = 'dora@example.com'
  await using dora = await signedIn(email)
  await dora.follows('Account')
  await dora.reads('Your Paper shop account')
  const secret = await dora.shownKey()
  const app = dora.section('Authenticator app')
  await dora.types({ 'Code from your authenticator app': wrongAppCode(secret) }, app)
  await dora.presses('Save', app)
  await dora.isTold('Incorrect code')
  expect(await dora.shownKey()).toBe(secret)
  await dora.types({ 'Code from your authenticator app': appCode(secret) }, app)
  await dora.presses('Save', app)
  await dora.isTold('Your changes have been saved.')
  const { parsed: notice } = await fixture.mailTo(email)
  expect(notice.subject).toBe('Two-factor authentication turned on for Paper shop')

  const recovery = dora.section('Recovery codes')
  await dora.presses('Generate recovery codes', recovery)
  const first = recovery.getByRole('listitem').first()
  await first.waitFor()
  expect(await dora.reading()).not.toContain('have been saved')
  const isInSight = async () => ((await first.boundingBox())?.y ?? WIDE.height) < WIDE.height
  await until(isInSight, () => 'the codes are below the window', 5000)
  const codes = await recovery.getByRole('listitem').allTextContents()
  expect(codes).toHaveLength(10)
  await dora.looks('settings-recovery-codes')
  await dora.presses("I've saved my recovery codes", recovery)
  await dora.isTold('You have recovery codes.')
  expect(await dora.reading()).not.toContain(codes[0] as string)

  await dora.signsOut()
  await dora.signsIn(email)
  await dora.reads('Two-factor authentication for Paper shop')
  await dora.types({ 'Code from your authenticator app': appCode(secret, 1) })
  await dora.presses('Sign in with authenticator app')
  await dora.isSignedInAs(`${email}, aal2`)

  await dora.signsOut()
  await dora.signsIn(email)
  await dora.page.getByText('Use a recovery code instead').click()
  await dora.types({ 'Recovery code': 'no code at all' })
  await dora.presses('Sign in with recovery code')
  await dora.isTold('Incorrect recovery code.')
  await dora.types({ 'Recovery code': codes[3] as string })
  await dora.presses('Sign in with recovery code')
  await dora.isSignedInAs(`${email}, aal2`)
})

walk(
  'A recovery leads to a new password; the back button after a sign-in, to the app',
  async () => {
    const email = 'emil@example.com'
    await fixture.create(email)
    await using emil = await newVisitor()
    await emil.starts('login')
    await emil.follows('Forgot your password?')
    await emil.reads('Recover your Paper shop account')
    await emil.types({ 'Email address': email })
    await emil.presses('Continue')
    await emil.reads('Enter the code from Paper shop')
    await emil.types({ 'Verification code': codeIn(await fixture.mailTo(email)) })
    await emil.presses('Continue')
    await emil.reads('Your Paper shop account')
    await emil.types({ Password: NEW_PASSWORD }, emil.section('Password'))
    await emil.presses('Save', emil.section('Password'))
    await emil.isTold('Your changes have been saved.')
    await emil.signsIn(email, NEW_PASSWORD)
    await emil.isSignedInAs(email)
    await emil.page.goBack()
    await emil.reads("You're signed in")
    expect(await emil.field('Password').count()).toBe(0)
    expect(await emil.page.getByRole('link').allTextContents()).toEqual(['Back to the app'])
    await emil.follows('Back to the app')
    await emil.isSignedInAs(email)
  },
)

walk('Social login signs up and in, and a second account is connected', async () => {
  const email = 'gus@example.com'
  const [google, gitlab] = [newAccount({ email }), newAccount({ email: 'gus@gitlab.example' })]
  await using gus = await newVisitor()
  const continues = async (button: string, provider: string) => {
    await gus.presses(button)
    await gus.reads(provider)
    await gus.presses('Continue')
  }
  fixture.provider.signInAs(google)
  await gus.starts('registration')
  await gus.presses('Continue with Google')
  await gus.reads('google')
  await gus.presses('Cancel')
  await gus.isTold('Sign-in with Google was denied or cancelled.')
  await continues('Continue with Google', 'google')
  await gus.isSignedInAs(email)
  expect(await fixture.isConfirmed(email)).toBe(true)

  fixture.provider.signInAs(gitlab)
  await gus.opensSettings()
  await continues('Connect GitLab', 'gitlab')
  await gus.isTold('Your changes have been saved.')
  await gus.section('Connected accounts').getByText('Disconnect GitLab').waitFor()
  await gus.signsOut()
  await gus.follows('Sign in')
  await continues('Continue with GitLab', 'gitlab')
  await gus.isSignedInAs(email)

  // Without an app to return to.
  await gus.signsOut()
  await gus.page.goto((await fixture.start('login')).hosted_url)
  await continues('Continue with GitLab', 'gitlab')
  await gus.reads('Your Paper shop account')
  await gus.page.reload()
  await gus.isTold(`You're signed in as ${email}.`)
})

walk('A German browser gets German pages and emails', async () => {
  const email = 'ida@example.com'
  await using ida = await newVisitor({ language: 'de-DE', look: NARROW_DARK })
  await ida.starts('registration')
  await ida.reads('Konto bei Paper shop erstellen')
  expect(await ida.page.locator('html').getAttribute('lang')).toBe('de')
  await ida.types({ 'E-Mail-Adresse': email, Passwort: 'kurz' })
  await ida.presses('Konto erstellen')
  await ida.isTold('Dieses Passwort ist zu kurz.')
  await ida.types({ Passwort: PASSWORD })
  await ida.presses('Konto erstellen')
  await ida.isSignedInAs(email)
  const { parsed: welcome } = await fixture.mailTo(email)
  expect(welcome.subject).toBe('Bestätige deine E-Mail-Adresse für Paper shop')
  await ida.follows('Account')
  await ida.reads('Dein Konto bei Paper shop')
  await ida.looks('settings-german')
})

walk('A new email address is verified on a page that the settings lead to', async () => {
  const [before, after] = ['quin@example.com', 'quin@example.org']
  await using quin = await signedIn(before)
  await quin.opensSettings()
  const profile = quin.section('Profile')
  await quin.types({ 'Email address': after }, profile)
  await quin.presses('Save', profile)
  await quin.isTold(`sent a code to ${after}`)
  expect(await quin.field('Email address', profile).inputValue()).toBe(before)
  await quin.page.locator('a[href*="/auth/self-service/verification"]').click()
  await quin.types({ 'Verification code': codeIn(await fixture.mailTo(after)) })
  await quin.presses('Continue')
  await quin.isTold('Your email address is verified.')
  await quin.opensApp()
  await quin.isSignedInAs(after)
})
