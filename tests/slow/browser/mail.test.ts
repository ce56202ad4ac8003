import { afterAll, expect, test } from 'bun:test'
import { renderMail } from '../../../src/platform/mail/template.ts'
import { expectGoodPages, launchBrowser, openPage } from '../../support/browser.ts'

const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
const url = `https://gate.example.org/auth/self-service/verification?flow=${crypto.randomUUID()}&code=481516`

const LETTERS = {
  code: renderMail({
    language: 'en',
    tenantName: 'Acme',
    heading: 'Verify your email address',
    paragraphs: ['Enter this code to verify your email address. It expires in 15 minutes.'],
    code: '481516',
    link: { label: 'Verify email address', url, orOpen: 'Or copy this link into your browser:' },
    footer: "If you didn't request this email, ignore it.",
  }),
  'long-words': renderMail({
    language: 'de',
    tenantName: LONG,
    heading: LONG,
    paragraphs: ['x'.repeat(200)],
    code: 'K7QF-93XM-2LPD',
    footer: 'y'.repeat(200),
  }),
}

const browser = await launchBrowser()
afterAll(() => browser.close())

test.each(Object.entries(LETTERS))(
  'An email fits its page and is accessible: %s',
  async (name, { html }) => {
    const page = await openPage(browser, 'about:blank')
    // With its own style sheet.
    await page.setContent(html)
    expect(await page.textContent('h1')).toBeTruthy()
    await expectGoodPages(page, [{ name: `mail-${name}`, html }])
  },
  30_000,
)
