import { afterAll, test } from 'bun:test'
import { failoverPage } from '../../../src/console/pages/installation/failover.tsx'
import type { PairState } from '../../../src/platform/replication/pair.ts'
import { useConsole } from '../../console/fixture.ts'
import { pageWith } from '../../console/page-with.ts'
import { until } from '../../support/binary.ts'
import { launchBrowser, openPage } from '../../support/browser.ts'
import { testConfig } from '../../support/config.ts'

const app = await useConsole()
const admin = await app.newAdmin()
const browser = await launchBrowser()
afterAll(() => browser.close())

const KEY = { GATEHOUSE_S3_ACCESS_KEY_ID: 'a', GATEHOUSE_S3_SECRET_ACCESS_KEY: 'b' }
const AUTO = {
  'replication-role': 'auto',
  'replication-to': 's3://bucket/gatehouse',
  'database-external-checkpoint': 'true',
}

/** The page while a server is active. */
async function pageOn(name: string) {
  const now = app.clock.now()
  const state: PairState = {
    lease: { generation: 1, server: { id: name, name }, since: now, cause: 'first', ttlMs: 10_000 },
    ...{ problem: undefined, standbys: [], standbyAt: now, setAside: [] },
  }
  const services = { config: testConfig(AUTO, KEY), replication: { pair: () => state } }
  const { open } = pageWith(app, admin.cookie, failoverPage, services)
  return { contentType: 'text/html', body: (await open('/installation/failover')).html }
}

test('A page stays as it is while another server takes over, and then shows what that one says', async () => {
  const page = await openPage(browser, `${app.url}/console/login`)
  await page.clock.install()
  let answer: { status?: number; contentType: string; body: string } = await pageOn('oslo')
  let answered = 0
  await page.route('**/installation/failover', async (route) => {
    await route.fulfill(answer)
    answered++
  })
  await page.goto(`${app.url}/console/installation/failover`)
  const says = (text: string) => page.locator('main').getByText(text).waitFor()
  await says('oslo is active.')
  answer = { status: 503, contentType: 'text/html', body: '<h1>Standby</h1>' }
  const before = answered
  await until(async () => {
    await page.clock.runFor(5000)
    return answered > before + 1
  })
  await says('oslo is active.')
  answer = await pageOn('bergen')
  await page.clock.runFor(5000)
  await says('bergen is active.')
}, 30_000)
