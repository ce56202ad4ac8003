import { afterAll, describe, expect, test } from 'bun:test'
import { appCode, wrongAppCode } from '../../support/authenticator.ts'
import { until } from '../../support/binary.ts'
import { launchBrowser, NARROW, NARROW_DARK, WIDE, WIDE_DARK } from '../../support/browser.ts'
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
async function signedIn(email: string, eyes?: Eyes): Promise<Person> {
  await fixture.create(email)
  const person = await newVisitor(eyes)
  await person.signsIn(email)
  await person.isSignedInAs(email)
  return person
}

/** Six digits other than these. */
const otherThan = (code: string): string => (code === '000000' ? '111111' : '000000')

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

walk('A wrong password keeps the email, and a sign-out ends the session', async () => {
  const email = 'ben@example.com'
  await fixture.create(email)
  await using ben = await newVisitor()
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
  const token = await ben.token()
  expect(await fixture.whoami(token)).toBe(200)
  await ben.presses('Sign out')
  await ben.isTold('Nobody is signed in.')
  expect(await fixture.whoami(token)).toBe(401)
})

walk('A code by email signs in, after a wrong one, and a reload sends no form again', async () => {
  const email = 'cem@example.com'
  await fixture.create(email)
  await using cem = await newVisitor({ look: WIDE_DARK })
  await cem.starts('login')
  await cem.presses('Email me a sign-in code')
  await cem.isTold('is required')
  expect(await cem.remarkOn('Email address')).toContain('Email address')
  await cem.types({ 'Email address': email })
  await cem.presses('Email me a sign-in code')
  await cem.reads('Enter the code from Paper shop')
  const methods: string[] = []
  cem.page.on('request', (request) => methods.push(request.method()))
  await cem.page.reload()
  expect(methods).not.toContain('POST')
  await cem.reads('Enter the code from Paper shop')
  const code = codeIn(await fixture.mailTo(email))
  await cem.types({ 'Verification code': otherThan(code) })
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
  expect(await dora.remarkOn('Code from your authenticator app')).toContain('Incorrect code')
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
  await dora.types({ 'Code from your authenticator app': wrongAppCode(secret) })
  await dora.presses('Sign in with authenticator app')
  await dora.isTold('Incorrect code')
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

describe('Without the second factor, a sign-in', () => {
  const EMAIL = 'ola@example.com'
  const enrolled = (async () => {
    await using ola = await signedIn(EMAIL)
    await ola.enrols()
  })()

  /** A visitor who has entered the password. */
  async function halfway(): Promise<Person> {
    await enrolled
    const ola = await newVisitor()
    await ola.signsIn(EMAIL)
    await ola.reads('Two-factor authentication for Paper shop')
    return ola
  }

  walk(
    'has working links, offers no recovery codes without any, and stays in its browser',
    async () => {
      await using ola = await halfway()
      expect(await ola.reading()).not.toContain('recovery code')
      for (const link of await ola.page.getByRole('link').all()) {
        const url = (await link.getAttribute('href')) ?? ''
        const response = await ola.page.request.get(url, { headers: { accept: 'text/html' } })
        expect([url, response.status()]).toEqual([url, 200])
      }
      await using elsewhere = await newVisitor({ look: NARROW })
      await elsewhere.page.goto(ola.page.url())
      await elsewhere.reads('You started in another browser')
      expect(await elsewhere.page.getByRole('link').count()).toBeGreaterThan(0)
    },
  )

  walk(
    'is asked for the second factor again by the page before, and is not signed in',
    async () => {
      await enrolled
      await using ola = await newVisitor()
      await ola.starts('login')
      const before = ola.page.url()
      await ola.types({ 'Email address': EMAIL, Password: PASSWORD })
      await ola.presses('Sign in with password')
      await ola.reads('Two-factor authentication for Paper shop')
      const asking = ola.page.url()
      await ola.opensApp()
      await ola.isTold('Nobody is signed in.')
      await ola.page.goto(before)
      expect(ola.page.url()).toBe(asking)
    },
  )
})

walk('A recovery by email leads to a new password', async () => {
  const email = 'emil@example.com'
  await fixture.create(email)
  await using emil = await newVisitor()
  await emil.starts('login')
  await emil.follows('Forgot your password?')
  await emil.reads('Recover your Paper shop account')
  await emil.types({ 'Email address': email })
  await emil.presses('Continue')
  await emil.reads('Enter the code from Paper shop')
  const code = codeIn(await fixture.mailTo(email))
  await emil.types({ 'Verification code': otherThan(code) })
  await emil.presses('Continue')
  await emil.isTold('This code is incorrect')
  await emil.types({ 'Verification code': code })
  await emil.presses('Continue')
  await emil.reads('Your Paper shop account')
  await emil.types({ Password: NEW_PASSWORD }, emil.section('Password'))
  await emil.presses('Save', emil.section('Password'))
  await emil.isTold('Your changes have been saved.')

  await emil.signsIn(email)
  await emil.isTold('Incorrect email address or password.')
  await emil.types({ Password: NEW_PASSWORD })
  await emil.presses('Sign in with password')
  await emil.isSignedInAs(email)
})

walk('A recovery that is continued in another browser ends here', async () => {
  const email = 'rosa@example.com'
  await fixture.create(email)
  await using desk = await newVisitor()
  await desk.starts('recovery')
  await desk.types({ 'Email address': email })
  await desk.presses('Continue')
  await desk.reads('Enter the code from Paper shop')
  await using phone = await newVisitor({ look: NARROW })
  const mail = await fixture.mailTo(email)
  await phone.page.goto(linkIn(mail))
  await phone.presses('Continue')
  await phone.reads('Your Paper shop account')
  expect(await phone.reading()).toContain('new password')
  await desk.types({ 'Verification code': codeIn(mail) })
  await desk.presses('Continue')
  await desk.isTold('This code is incorrect or has expired.')
  expect(await desk.reading()).not.toContain("You're signed in")
})

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
  await gus.presses('Sign up with Google')
  await gus.reads('google')
  await gus.presses('Cancel')
  await gus.isTold('Sign-in with Google was denied or cancelled.')
  await continues('Sign up with Google', 'google')
  await gus.isSignedInAs(email)
  expect(await fixture.isConfirmed(email)).toBe(true)
  await gus.signsOut()
  await gus.follows('Sign in')
  await continues('Sign in with Google', 'google')
  await gus.isSignedInAs(email)

  fixture.provider.signInAs(gitlab)
  await gus.opensSettings()
  await continues('Connect GitLab', 'gitlab')
  await gus.isTold('Your changes have been saved.')
  await gus.section('Connected accounts').getByText('Disconnect GitLab').waitFor()
  await gus.signsOut()
  await gus.follows('Sign in')
  await continues('Sign in with GitLab', 'gitlab')
  await gus.isSignedInAs(email)
})

walk('Without an app to return to, a sign-in ends at the account', async () => {
  const email = 'kay@example.com'
  await using kay = await newVisitor()
  const lands = async (words: string) => {
    await kay.reads('Your Paper shop account')
    await kay.isTold(`${words}You're signed in as ${email}.`)
  }
  fixture.provider.signInAs(newAccount({ email }))
  await kay.page.goto((await fixture.start('registration')).hosted_url)
  await kay.presses('Sign up with Google')
  await kay.reads('google')
  await kay.presses('Continue')
  await lands('Your account is ready. ')
  const password = kay.section('Password')
  await kay.types({ Password: PASSWORD }, password)
  await kay.presses('Save', password)
  await kay.isTold('Your changes have been saved.')

  await kay.page.goto(await wayToGoogle(await fixture.start('login')))
  await kay.reads('google')
  await kay.presses('Continue')
  await lands('')
  await kay.page.reload()
  await lands('')
  await kay.page.goto((await fixture.start('login')).hosted_url)
  await kay.types({ 'Email address': email, Password: PASSWORD })
  await kay.presses('Sign in with password')
  await lands('')
})

/** Where an app with its own forms sends the browser. */
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

walk('A German browser gets German pages and emails', async () => {
  const [email, other] = ['ida@example.com', 'ida@example.org']
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
  expect(welcome.text).toContain('Der Code ist 15 Minuten gültig')
  await ida.follows('Account')
  await ida.reads('Dein Konto bei Paper shop')
  await ida.looks('settings-german')

  await fixture.create(other)
  await ida.starts('login')
  await ida.types({ 'E-Mail-Adresse': other })
  await ida.presses('Anmeldecode per E-Mail senden')
  await ida.reads('Code von Paper shop eingeben')
  const mail = await fixture.mailTo(other)
  expect(mail.parsed.subject).toBe('Dein Anmeldecode für Paper shop')
  await ida.types({ Bestätigungscode: codeIn(mail) })
  await ida.presses('Weiter')
  await ida.isSignedInAs(other)
})

walk('Two tabs sign in one after the other', async () => {
  const email = 'jon@example.com'
  await fixture.create(email)
  await using first = await newVisitor()
  const second = await first.newTab()
  await first.starts('login')
  await second.starts('login')
  for (const tab of [first, second]) {
    await tab.types({ 'Email address': email, Password: PASSWORD })
    await tab.presses('Sign in with password')
    await tab.isSignedInAs(email)
  }
})

walk('The back button after a sign-in shows the sign-in, and leads to the app', async () => {
  await using max = await signedIn('max@example.com')
  await max.page.goBack()
  await max.reads("You're signed in")
  expect(await max.field('Password').count()).toBe(0)
  expect(await max.page.getByRole('link').allTextContents()).toEqual(['Back to the app'])
  await max.follows('Back to the app')
  await max.isSignedInAs('max@example.com')
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
  const { parsed: notice } = await fixture.mailTo(before)
  expect(notice.subject).toBe('Email change requested for your Paper shop account')
  const code = codeIn(await fixture.mailTo(after))
  const onward = quin.page.locator('a[href*="/auth/self-service/verification"]')
  expect(await onward.count()).toBe(1)
  await onward.click()
  await quin.types({ 'Verification code': code })
  await quin.presses('Continue')
  await quin.isTold('Your email address is verified.')
  await quin.opensApp()
  await quin.isSignedInAs(after)
})
