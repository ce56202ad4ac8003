import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { createMailTemplates } from '../../../../../src/engines/gate/sign-in/mail-templates/index.ts'
import { LANGUAGES } from '../../../../../src/engines/gate/sign-in/model.ts'
import {
  closePages,
  LOOKS,
  launchBrowser,
  openPage,
  screenshot,
  scrollsSideways,
  seriousFindings,
} from '../../../../support/browser.ts'

const ABOUT = {
  tenantName: 'Acme',
  code: '481516',
  link: 'https://gate.example.org/auth/self-service/recovery?flow=0197d6c2-2f6b-7d1c-9d3e-5a8e0c7f4b21&code=481516',
  lifetimeMs: 15 * 60_000,
  linkLifetimeMs: 15 * 60_000,
  newAddress: 'grace@donaudampfschifffahrtselektrizitaetenhauptbetriebswerk.example',
}

const LETTERS: Record<string, string> = Object.fromEntries(
  LANGUAGES.flatMap((language) => {
    const letters = createMailTemplates(language)
    return [
      [`recovery-${language}`, letters.recovery(ABOUT).html],
      [`email-change-notice-${language}`, letters.emailChangeNotice(ABOUT).html],
    ]
  }),
)

let browser: Browser
let server: ReturnType<typeof Bun.serve>

beforeAll(async () => {
  browser = await launchBrowser()
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      new Response(LETTERS[new URL(url).pathname.slice(1)] ?? '', {
        headers: { 'content-type': 'text/html; charset=utf-8' },
      }),
  })
}, 60_000)

afterEach(() => closePages(browser))

afterAll(async () => {
  await browser.close()
  await server.stop(true)
})

const cases = Object.keys(LETTERS).flatMap((name) => LOOKS.map((look) => ({ name, look })))

test.each(cases)(
  'the letter $name holds at $look.name: nothing sticks out, nothing serious for axe',
  async ({ name, look }) => {
    const page = await openPage(browser, `${server.url}${name}`, look)

    expect(await page.textContent('h1')).toBeTruthy()
    expect(await scrollsSideways(page)).toBe(false)
    expect(await seriousFindings(page)).toEqual([])
    await screenshot(page, `letter-${name}-${look.name}`)
  },
  30_000,
)
