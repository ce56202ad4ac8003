import { afterAll, expect, test } from 'bun:test'
import { findingsOf, launchBrowser, NARROW, openPage, WIDE } from '../../support/browser.ts'
import { startDemo } from '../../support/demo/index.ts'

const demo = await startDemo({ hours: 0.5, hasWeekBefore: false })
const browser = await launchBrowser()

afterAll(async () => {
  await browser.close()
  await demo[Symbol.asyncDispose]()
})

test('The contents lead to each operation with its fields, responses and examples in three languages, without scripts', async () => {
  const plain = await openPage(browser, `${demo.url}/reference`, WIDE, { javaScript: false })
  const article = plain.locator('article:target')
  await plain.click('nav a:has-text("Create a cron job")')
  const created = article.locator('.responses details', { has: plain.locator('text=Created') })
  await created.locator('summary').click()
  await created.locator('a:text-is("List cron jobs")').click()
  await article.locator('.responses summary:has-text("200")').click()
  expect(await article.locator('dt:has-text("next_run_at")').first().isVisible()).toBe(true)
  await plain.click('nav a:has-text("Create a cron job")')
  expect(await article.locator('h3').textContent()).toBe('Create a cron job')
  await article.locator('summary:has-text("Errors")').click()
  const error = article.locator('dl > div', { has: plain.locator('code:text-is("400")') })
  expect(await error.locator('pre').textContent()).toBe(
    '{ "error": "name: is required and must be a string of 1 to 255 characters" }',
  )
  expect(await article.locator('summary:has-text("Try it")').isVisible()).toBe(false)
  await plain.fill('[type=search]', 'create identity')
  await plain.press('[type=search]', 'Enter')
  await plain.click('main a:has-text("Create an identity")')
  const field = article.locator('dl dl > div', { has: plain.locator('code:text-is("email")') })
  expect(await field.first().locator('dt').textContent()).toBe('email string required')
  const example = article.locator('[data-language] pre:visible')
  const curl = (await example.textContent()) ?? ''
  expect(curl).toContain('-H "Authorization: Bearer $GATEHOUSE_KEY"')
  expect(curl).toContain(`-d '{"schema_id":"user","traits":{"email":"ada@example.com"}}'`)
  await plain.check('[name=language][value=python]')
  expect(await example.textContent()).toStartWith('import os')
}, 30_000)

test('An address from before each engine had a page leads to its operation', async () => {
  const page = await openPage(browser, `${demo.url}/reference#post-v1-relay-messages`)
  await page.waitForURL('**/reference/relay#post-v1-relay-messages')
  expect(await page.locator('article:target h3').textContent()).toBe('Send an event')
}, 30_000)

test('Search shows what it finds as you type, by keyboard too, also on a phone', async () => {
  const page = await openPage(browser, `${demo.url}/reference/gate`, NARROW)
  await page.keyboard.press('/')
  await page.keyboard.type('rotate secret')
  const found = page.locator('nav .results a')
  await found.filter({ hasText: 'Rotate' }).nth(1).waitFor()
  expect((await found.allInnerTexts()).slice(0, 2)).toEqual([
    'Rotate the secret of a webhook',
    'Rotate the signing secret of jobs',
  ])
  expect(await findingsOf(page, 'nav')).toEqual([])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/reference/clockwork#post-v1-clockwork-signing-secret-rotate')

  await page.keyboard.press('/')
  await page.keyboard.type('zzz')
  await page.locator('nav [role=status]:text-is("No operations found")').waitFor()
  await page.keyboard.press('Escape')
  expect(await page.locator('nav [type=search]').inputValue()).toBe('')
  await page.keyboard.type('preview schedule')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/reference/clockwork#post-v1-clockwork-jobs-preview')
}, 30_000)

test('The contents mark the operation that is on the screen', async () => {
  const page = await openPage(browser, `${demo.url}/reference/relay`)
  await page.evaluate(() => document.querySelector('#get-v1-relay-deliveries')?.scrollIntoView())
  const marked = page.locator('nav [aria-current="location"]:has-text("List deliveries")')
  await marked.waitFor()
}, 30_000)

test('A new key is taken from the console to the reference, tries requests there, and is gone with the page', async () => {
  const page = await openPage(browser, 'about:blank')
  const { token } = demo.session
  await page
    .context()
    .addCookies([{ name: 'identity_session', value: token, url: demo.url, sameSite: 'Lax' }])
  await page.goto(`${demo.url}/console/keys/new?engine=clockwork`)
  await page.fill('[name=name]', 'Reference')
  await page.click('button:has-text("Create key")')
  const link = page.locator('a:has-text("Try it in the API reference")')
  const reference = await page.context().newPage()
  await reference.goto(demo.url + (await link.getAttribute('href')))
  const key = reference.getByLabel('API key')
  await reference.waitForFunction(() =>
    document.querySelector('[data-key]:not(:placeholder-shown)'),
  )
  const article = reference.locator('#post-v1-clockwork-jobs-preview')
  await article.locator('summary:has-text("Try it")').click()
  await article.locator('textarea').fill('{"schedule":"0 9 * * 1-5"}')
  await article.locator('button:has-text("Send POST request")').click()
  const answer = article.locator('[data-answer]')
  await answer.locator('code').waitFor()
  expect(await answer.textContent()).toMatch(
    /^200 OK in \d+ ms\s*x-request-id: req_.*ratelimit: "burst";.*"next_runs"/s,
  )
  expect(await findingsOf(reference, '#post-v1-clockwork-jobs-preview')).toEqual([])

  const list = reference.locator('#get-v1-clockwork-jobs')
  await list.locator('summary:has-text("Try it")').click()
  await list.locator('button:has-text("Send GET request")').click()
  await list.locator('[data-answer]:has-text("etag: ")').waitFor()
  const missing = reference.locator('#get-v1-clockwork-jobs-job-id')
  await missing.locator('summary:has-text("Try it")').click()
  await missing.locator('[name=job_id]').fill('a/b')
  await missing.locator('button:has-text("Send GET request")').click()
  await missing.locator('[data-answer]:has-text("job not found")').waitFor()
  await key.fill('svc_clockwork_sk_unknown')
  await article.locator('button:has-text("Send POST request")').click()
  await answer.locator('code:text-is("401")').waitFor()
  await reference.check('[name=language][value=python]')
  const stored = (): unknown => [{ ...localStorage }, { ...sessionStorage }, document.cookie]
  const preference = { 'gatehouse:language': 'python' }
  expect(await reference.evaluate(stored)).toEqual([preference, {}, ''])
  await page.close()
  await reference.reload()
  expect(await key.inputValue()).toBe('')
  expect(await reference.isChecked('[name=language][value=python]')).toBe(true)
}, 30_000)
