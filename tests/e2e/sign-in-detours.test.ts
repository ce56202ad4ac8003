import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { compileBinary, until } from '../support/binary.ts'
import { LOOKS, launchBrowser } from '../support/browser.ts'
import { type Eyes, newPerson, PASSWORD, type Person } from '../support/person.ts'
import {
  codeIn,
  linkIn,
  type SignInFixture,
  startSignInFixture,
} from '../support/sign-in-fixture.ts'

const [WIDE, , NARROW] = LOOKS

/** Each test is some pages long, and the machine may have other things to do. */
const LONG = 60_000

/** More than a browser takes to get to a place within a page. */
const SCROLLED_MS = 5000

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

/** Somebody whom the tenant knows, and who has signed in. */
async function signedIn(email: string, eyes?: Eyes): Promise<Person> {
  await fixture.create(email)
  const person = await somebody(eyes)
  await person.signsIn(email)
  await person.isSignedInAs(email)
  return person
}

test(
  'two tabs sign in one after the other',
  async () => {
    const email = 'jon@example.com'
    await fixture.create(email)
    await using first = await somebody()
    const second = await first.newTab()
    await first.starts('login')
    await second.starts('login')

    for (const tab of [first, second]) {
      await tab.types({ 'Email address': email, Password: PASSWORD })
      await tab.presses('Sign in with password')
      await tab.isSignedInAs(email)
    }
  },
  LONG,
)

describe('to load a page again sends nothing again', () => {
  /** The ways in which a browser asks while the page is loaded again. */
  async function methodsOfReload({ page }: Person): Promise<string[]> {
    const methods: string[] = []
    page.on('request', (request) => methods.push(request.method()))
    await page.reload()
    return methods
  }

  test(
    'after a form that was taken',
    async () => {
      await using kim = await somebody()
      await kim.starts('login')
      await kim.types({ 'Email address': 'kim@example.com' })
      await kim.presses('Email me a sign-in code')
      await kim.reads('Enter the code from Paper shop')

      expect(await methodsOfReload(kim)).not.toContain('POST')
      await kim.reads('Enter the code from Paper shop')
    },
    LONG,
  )
})

describe('the way back after signing in', () => {
  test(
    'leads to a page that says so, and on from there to the app',
    async () => {
      await using max = await signedIn('max@example.com')
      await max.page.goBack()
      await max.reads("You're signed in")
      await max.looks('signed-in-back')
      expect(await max.field('Password').count()).toBe(0)

      expect(await max.page.getByRole('link').allTextContents()).toEqual(['Back to the app'])
      await max.follows('Back to the app')
      await max.isSignedInAs('max@example.com')
    },
    LONG,
  )
})

describe('who owes a second factor', () => {
  const EMAIL = 'ola@example.com'

  /** With the password given, and no more. */
  async function halfway(): Promise<Person> {
    const ola = await somebody()
    await ola.signsIn(EMAIL)
    await ola.reads('Two-factor authentication for Paper shop')
    return ola
  }

  beforeAll(async () => {
    await using ola = await signedIn(EMAIL)
    await ola.enrols()
  }, LONG)

  test(
    'finds no link that leads nowhere',
    async () => {
      await using ola = await halfway()
      const links = await ola.page.getByRole('link').all()
      for (const link of links) {
        const url = (await link.getAttribute('href')) ?? ''
        const answer = await ola.page.request.get(url, { headers: { accept: 'text/html' } })
        expect([url, answer.status()]).toEqual([url, 200])
      }
    },
    LONG,
  )

  test(
    'is led to it again by the page that they came from, and is not signed in',
    async () => {
      await using ola = await somebody()
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
    LONG,
  )

  test(
    'does not hear of recovery codes without having some',
    async () => {
      await using ola = await halfway()
      await ola.looks('second-factor-without-codes')
      expect(await ola.reading()).not.toContain('recovery code')
    },
    LONG,
  )

  test(
    'goes on in no other browser, and finds a way to begin again there',
    async () => {
      await using ola = await halfway()
      await using elsewhere = await somebody({ look: NARROW })
      await elsewhere.page.goto(ola.page.url())
      await elsewhere.reads('You started in another browser')
      await elsewhere.looks('other-browser-narrow')
      expect(await elsewhere.page.getByRole('link').count()).toBeGreaterThan(0)
    },
    LONG,
  )
})

test(
  'new recovery codes are in sight, and nothing says that they are kept before they are',
  async () => {
    await using pia = await signedIn('pia@example.com')
    await pia.enrols()
    const recovery = pia.section('Recovery codes')
    await pia.presses('Generate recovery codes', recovery)
    const first = recovery.getByRole('listitem').first()
    await first.waitFor()

    expect(await pia.reading()).not.toContain('have been saved')
    const isInSight = async () => ((await first.boundingBox())?.y ?? WIDE.height) < WIDE.height
    await until(isInSight, () => 'the codes are beyond the end of the window', SCROLLED_MS)
  },
  LONG,
)

test(
  'another address is confirmed on a page that the settings lead to',
  async () => {
    const [before, after] = ['quin@example.com', 'quin@example.org']
    await using quin = await signedIn(before)
    await quin.opensSettings()
    const profile = quin.section('Profile')
    await quin.types({ 'Email address': after }, profile)
    await quin.presses('Save', profile)
    await quin.isTold(`sent a code to ${after}`)
    expect(await quin.field('Email address', profile).inputValue()).toBe(before)
    await quin.looks('settings-address')
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
  },
  LONG,
)

describe('a recovery whose mail is opened in another browser', () => {
  const EMAIL = 'rosa@example.com'
  let atTheDesk: Person
  let onThePhone: Person

  beforeAll(async () => {
    await fixture.create(EMAIL)
    atTheDesk = await somebody()
    await atTheDesk.starts('recovery')
    await atTheDesk.types({ 'Email address': EMAIL })
    await atTheDesk.presses('Continue')
    await atTheDesk.reads('Enter the code from Paper shop')
    onThePhone = await somebody({ look: NARROW })
    await onThePhone.page.goto(linkIn(await fixture.mailTo(EMAIL)))
    await onThePhone.presses('Continue')
    await onThePhone.reads('Your Paper shop account')
  }, LONG)

  test(
    'goes on there, where a new password is asked for',
    async () => {
      await onThePhone.looks('recovered-narrow')
      expect(await onThePhone.reading()).toContain('new password')
    },
    LONG,
  )

  test(
    'is over where it began, and signs nobody in there',
    async () => {
      await atTheDesk.types({ 'Verification code': codeIn(await fixture.mailTo(EMAIL)) })
      await atTheDesk.presses('Continue')
      await atTheDesk.isTold('This code is incorrect or has expired.')
      await atTheDesk.looks('recovery-elsewhere')
      expect(await atTheDesk.reading()).not.toContain("You're signed in")
    },
    LONG,
  )
})
