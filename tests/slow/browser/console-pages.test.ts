import { afterAll, expect, test } from 'bun:test'
import { navigationOf, PAGES } from '../../../views/console/layout/navigation.ts'
import {
  expectGoodPages,
  launchBrowser,
  NARROW_DARK,
  openPage,
  turnTo,
} from '../../support/browser.ts'
import { startDemo } from '../../support/demo/index.ts'

/** Every page of the sidebar, with data, as the owner sees it. */

const demo = await startDemo({ hours: 0.5, hasWeekBefore: false })
const browser = await launchBrowser()
const page = await openPage(browser, 'about:blank', NARROW_DARK)
const context = page.context()
const { token } = demo.session
await context.addCookies([
  { name: 'identity_session', value: token, url: demo.url, sameSite: 'Lax' },
])

afterAll(async () => {
  await browser.close()
  await demo[Symbol.asyncDispose]()
})

const pagesIn = (scope: 'tenant' | 'installation') =>
  navigationOf(scope).flatMap(({ pages }) => pages.map((key) => PAGES[key].path))

test.each([
  [
    'tenant',
    [
      ...pagesIn('tenant'),
      `/console/jobs/${demo.jobs.feed}`,
      '/console/jobs/new',
      `/console/endpoints/${demo.endpoints.crm}`,
      `/console/deliveries/${demo.failedDelivery()}`,
      `/console/identities/${demo.people[3]}`,
      '/console/account',
    ],
  ],
  ['installation', pagesIn('installation')],
])(
  'Every page of the %s is accessible, in light and dark',
  async (scope, paths) => {
    if (scope === 'installation') await demo.session.actIn(null)
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await turnTo(page, NARROW_DARK)
    const pages: { name: string; html: string }[] = []
    for (const path of paths) {
      const response = await page.goto(demo.url + path)
      const headings = await page.locator('h1').allInnerTexts()
      expect([path, response?.status(), headings]).toEqual([path, 200, [expect.any(String)]])
      expect(await page.title()).toContain(' · ')
      const html = (await response?.text()) ?? ''
      pages.push({ name: path.slice(1).replaceAll('/', '-'), html })
    }
    await expectGoodPages(page, pages)
    expect(complaints).toEqual([])
    page.removeAllListeners()
  },
  180_000,
)
