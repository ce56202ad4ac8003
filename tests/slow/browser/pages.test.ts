import { afterAll, expect, test } from 'bun:test'
import { renderMail } from '../../../src/platform/mail/template.ts'
import { navigationOf, PAGES } from '../../../views/layout/navigation.ts'
import {
  expectGoodPages,
  launchBrowser,
  NARROW_DARK,
  openPage,
  turnTo,
} from '../../support/browser.ts'
import { startDemo } from '../../support/demo/index.ts'

/** Every page of the sidebar with data, as the owner sees it, the reference, and emails. */

const demo = await startDemo({ hours: 0.5, hasWeekBefore: false })
const browser = await launchBrowser()
const page = await openPage(browser, 'about:blank', NARROW_DARK)
const { token } = demo.session
const cookie = { name: 'identity_session', value: token, url: demo.url, sameSite: 'Lax' } as const
await page.context().addCookies([cookie])
const complaints: string[] = []
const foreign: string[] = []
page.on('console', (message) => complaints.push(message.text()))
page.on('pageerror', (error) => complaints.push(error.message))
page.on('request', (request) => {
  if (!/^data:/.test(request.url()) && !request.url().startsWith(demo.url))
    foreign.push(request.url())
})

afterAll(async () => {
  await browser.close()
  await demo[Symbol.asyncDispose]()
})

const pagesIn = (scope: 'tenant' | 'installation') =>
  navigationOf(scope).flatMap(({ pages }) =>
    pages.map((key) => `/console${scope === 'tenant' ? '' : '/installation'}${PAGES[key].path}`),
  )
const ofTenant = [
  ...pagesIn('tenant'),
  `/console/jobs/${demo.jobs.feed}`,
  '/console/jobs/new',
  `/console/endpoints/${demo.endpoints.crm}`,
  `/console/deliveries/${demo.failedDelivery()}`,
  `/console/identities/${demo.people[3]}`,
  '/console/account',
]

test.each([
  ['of the tenant', ofTenant],
  ['of the installation', pagesIn('installation')],
  [
    'reference',
    ['', '/gate', '/clockwork', '/passepartout', '/relay', '/operations', '?q=rotate'].map(
      (page) => `/reference${page}`,
    ),
  ],
])(
  'Every page is accessible in light and dark, fits narrow screens, and loads only its own files: %s',
  async (_, paths) => {
    await turnTo(page, NARROW_DARK)
    const pages: { name: string; html: string }[] = []
    for (const path of paths) {
      const response = await page.goto(demo.url + path)
      const headings = await page.locator('h1').allInnerTexts()
      expect([path, response?.status(), headings]).toEqual([path, 200, [expect.any(String)]])
      const html = (await response?.text()) ?? ''
      pages.push({ name: path.slice(1).replaceAll('/', '-'), html })
    }
    await expectGoodPages(page, pages)
    expect([complaints, foreign]).toEqual([[], []])
  },
  180_000,
)

test('An email fits its page and is accessible, also with long words', async () => {
  const url = `https://gate.example.org/auth/verification?flow=${crypto.randomUUID()}&code=481516`
  const { html } = renderMail({
    language: 'de',
    tenantName: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
    heading: 'Wassergeländeeigentumsübertragungsbestimmungenzuständigkeitsverordnung',
    paragraphs: ['x'.repeat(200)],
    code: 'K7QF-93XM-2LPD',
    link: { label: 'Verify email address', url, orOpen: 'Or copy this link into your browser:' },
    footer: 'y'.repeat(200),
  })
  // In a document of its own, with its own style sheet.
  const mail = await openPage(browser, 'about:blank')
  await mail.setContent(html)
  await expectGoodPages(mail, [{ name: 'mail', html }])
}, 30_000)
