import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { renderMail } from '../../../src/platform/mail/template.ts'
import {
  closePages,
  LOOKS,
  launchBrowser,
  openPage,
  screenshot,
  scrollsSideways,
  seriousFindings,
} from '../../support/browser.ts'

const ADDRESS =
  'https://gate.example.org/auth/self-service/verification?flow=0197d6c2-2f6b-7d1c-9d3e-5a8e0c7f4b21&code=481516'

const LETTERS = {
  code: renderMail({
    language: 'en',
    tenantName: 'Acme',
    heading: 'Verify your email address',
    paragraphs: [
      'Enter this code to verify your email address. It works once and expires in 15 minutes.',
    ],
    code: '481516',
    link: {
      label: 'Verify email address',
      url: ADDRESS,
      orOpen: 'Or copy this link into your browser:',
    },
    footer: "If you didn't request this email, ignore it.",
  }),
  'long-words': renderMail({
    language: 'de',
    tenantName: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
    heading: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
    paragraphs: ['x'.repeat(200)],
    code: 'K7QF-93XM-2LPD',
    footer: 'y'.repeat(200),
  }),
}

let browser: Browser
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) =>
    new Response(LETTERS[new URL(url).pathname.slice(1) as keyof typeof LETTERS]?.html ?? '', {
      headers: { 'content-type': 'text/html; charset=utf-8' },
    }),
})

beforeAll(async () => {
  browser = await launchBrowser()
}, 60_000)
afterEach(() => closePages(browser))
afterAll(async () => {
  await browser.close()
  await server.stop(true)
})

const cases = Object.keys(LETTERS).flatMap((name) => LOOKS.map((look) => ({ name, look })))

test.each(cases)(
  'a mail fits its page and has no serious accessibility issue ($name, $look.name)',
  async ({ name, look }) => {
    const page = await openPage(browser, `${server.url}${name}`, look)

    expect(await page.textContent('h1')).toBeTruthy()
    expect(await scrollsSideways(page)).toBe(false)
    expect(await seriousFindings(page)).toEqual([])
    await screenshot(page, `mail-${name}-${look.name}`)
  },
  30_000,
)
