/**
 * Takes the pictures of the README anew, of a console behind which a day has gone by: the same day
 * each time, so that little but the console itself tells a picture from the one before.
 */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { launchBrowser } from '../tests/support/browser.ts'
import { type Demo, startDemo } from '../tests/support/demo/index.ts'

const FOLDER = join(import.meta.dir, '..', 'docs', 'images')
const SIZE = { width: 1200, height: 780 }
/** Larger files are a burden for readers. */
const MAX_BYTES = 200_000

/** What there is a picture of, and the page that it is taken of. */
const pagesOf = async (demo: Demo) => ({
  overview: `${demo.url}/console`,
  job: `${demo.url}/console/jobs/${demo.jobs.stock}`,
  delivery: `${demo.url}/console/deliveries/${demo.failedDelivery()}`,
  'sign-in': await demo.signInPage(),
  branding: `${demo.url}/console/settings/branding`,
  'get-started': `${demo.url}/console/get-started`,
})

/** As WebP, of which a browser makes a fifth of what the same takes as PNG. */
async function take(page: Page, name: string): Promise<number> {
  const protocol = await page.context().newCDPSession(page)
  const { data } = await protocol.send('Page.captureScreenshot', { format: 'webp', quality: 85 })
  return await Bun.write(join(FOLDER, `${name}.webp`), Buffer.from(data, 'base64'))
}

await using demo = await startDemo()
await using browser = await launchBrowser()
const context = await browser.newContext({
  viewport: SIZE,
  deviceScaleFactor: 2,
  colorScheme: 'light',
})
await context.addCookies([
  { name: 'identity_session', value: demo.session.token, url: demo.url, sameSite: 'Lax' },
])
const page = await context.newPage()
// The browser's clock stands where the console's does.
await page.clock.setFixedTime(demo.now)
for (const [name, url] of Object.entries(await pagesOf(demo))) {
  const answer = await page.goto(url)
  if (answer?.status() !== 200) throw new Error(`${url} answered ${answer?.status()}`)
  const bytes = await take(page, name)
  if (bytes > MAX_BYTES) throw new Error(`${name}.webp has ${bytes} bytes`)
  console.log(`docs/images/${name}.webp  ${Math.round(bytes / 1000)} kB`)
}
