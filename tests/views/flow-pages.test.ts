import { expect, test } from 'bun:test'
import { hash } from 'node:crypto'
import { PROVIDERS } from '../../src/config/index.ts'
import { createFlowPages } from '../../src/console/engine-pages.ts'
import type { FlowPage, NoticePage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import { providerName } from '../../src/engines/gate/sign-in/flows/ui/index.ts'
import { LANGUAGES, type Node } from '../../src/engines/gate/sign-in/model.ts'
import { bootTestApp } from '../support/app.ts'
import {
  CODES,
  CSRF,
  csrf,
  flowFixtures,
  flowPage,
  HOSTILE_NAME,
  input,
  link,
  noticeFixtures,
  picture,
  SECRET,
  says,
  submit,
  text,
  withMessage,
} from '../support/flow-fixtures.ts'
import { unescaped } from '../support/http-browser.ts'

const pages = createFlowPages()
const FLOWS = flowFixtures()
const GERMAN = FLOWS['german-login'] as FlowPage
const SETTINGS = { kind: 'settings' } as const

const draw = (page: FlowPage | NoticePage) =>
  open('flow' in page ? pages.flow(page) : pages.notice(page))

const drawn = (nodes: Node[], rest: Partial<Parameters<typeof flowPage>[0]> = {}) =>
  draw(flowPage({ nodes, ...rest }))

const nodesOf = (page: FlowPage) => page.flow.ui.nodes

interface Tag {
  tag: string
  attributes: Record<string, string>
  text: string
  form: number | undefined
}

/** A page taken apart the way a browser reads it. */
async function open(response: Response) {
  const html = await response.text()
  const tags: Tag[] = []
  const inside: Tag[] = []
  let forms = -1
  let form: number | undefined
  new HTMLRewriter()
    .on('*', {
      element(element) {
        if (element.tagName === 'form') form = ++forms
        const attributes = Object.fromEntries(
          [...element.attributes].map(([name, value]) => [name as string, unescaped(`${value}`)]),
        )
        const tag = { tag: element.tagName, attributes, text: '', form }
        tags.push(tag)
        if (VOID.includes(element.tagName)) return
        inside.push(tag)
        element.onEndTag(() => {
          inside.pop()
          if (tag.tag === 'form') form = undefined
        })
      },
      text(chunk) {
        for (const tag of inside) tag.text += unescaped(chunk.text)
      },
    })
    .transform(html)
  const all = (name: string, wanted: Record<string, string> = {}) =>
    tags.filter(
      ({ tag, attributes }) =>
        tag === name && Object.entries(wanted).every(([key, value]) => attributes[key] === value),
    )
  const one = (name: string, wanted?: Record<string, string>): Tag => {
    const found = all(name, wanted)
    expect([name, wanted, found.length]).toEqual([name, wanted, 1])
    return found[0] as Tag
  }
  const textsOf = (name: string) => all(name).map(({ text }) => text)
  const field = (name: string) => one('input', { name }).attributes
  /** What each form can send, in order: hidden fields, fields, buttons. */
  const shapes = Array.from({ length: forms + 1 }, (_, position) =>
    tags
      .filter(({ form, tag }) => form === position && ['input', 'button'].includes(tag))
      .filter(({ attributes }) => attributes.name !== undefined)
      .map(({ tag, attributes: { type, name, value } }) => {
        if (tag === 'button') return `[${name}=${value}]`
        return type === 'hidden' ? `(${name}=${value})` : `${name}`
      })
      .join(' '),
  )
  const { headers, status } = response
  return { html, tags, all, one, textsOf, field, shapes, headers, status }
}

const VOID = ['meta', 'link', 'input', 'img', 'br', 'path', 'circle']

test('A page has a labelled field for every type of node, with the attributes of the node', async () => {
  for (const type of 'text password email tel number url date datetime-local file'.split(' ')) {
    const node = input('default', { name: 'traits.x y', type, required: true }, 'What it is')
    const { field, one } = await drawn([csrf(), node])
    const { id = '', ...rest } = field('traits.x y')
    expect([rest.type, 'required' in rest]).toEqual([type === 'file' ? 'text' : type, true])
    expect(id).toMatch(/^[\w-]+$/)
    expect(one('label', { for: id }).text).toBe('What it is')
  }
  const given = { value: 'Ada', pattern: '[A-Z].*', autocomplete: 'name' }
  const { field, one } = await drawn([
    input('default', { name: 'traits.name', ...given, maxlength: 20, disabled: true }),
    input('default', { name: 'traits.a', type: 'checkbox', value: 'true' }),
    input('default', { name: 'traits.b', type: 'checkbox', value: '' }),
  ])
  const { id = '', ...name } = field('traits.name')
  expect(name).toMatchObject({ ...given, maxlength: '20', disabled: expect.any(String) })
  expect(one('label', { for: id }).text).toContain('traits.name')
  for (const name of ['traits.a', 'traits.b'])
    expect(field(name)).toMatchObject({ type: 'checkbox', value: 'true' })
  expect(['checked' in field('traits.a'), 'checked' in field('traits.b')]).toEqual([true, false])
})

test('A page has pictures, texts and links where their nodes are, and no passwords', async () => {
  const src = 'data:image/png;base64,AA=='
  const { tags, html } = await drawn([
    text('code', 'a', says(1, 'first')),
    picture(src),
    link('https://app.example.com/', 'last'),
    input('password', { name: 'password', type: 'password', value: 'correct horse' }),
  ])
  const texts = ['first', 'last', '']
  const seen = tags.filter(
    ({ tag, text }) => ['p', 'a', 'img'].includes(tag) && texts.includes(text),
  )
  expect(seen.map(({ tag }) => tag)).toEqual(['p', 'a', 'img'])
  const image = { src, width: '256', height: '256', alt: 'QR code' }
  expect(seen.at(-1)?.attributes).toMatchObject(image)
  expect(html).not.toContain('correct horse')
})

test('A page has numeric fields for codes, and names for password managers', async () => {
  const numeric = { inputmode: 'numeric', autocomplete: 'one-time-code' }
  const code = { ...numeric, class: 'code' }
  expect((await draw(FLOWS['login-code'])).field('code')).toMatchObject(code)
  const { field } = await draw(FLOWS['login-second-factor'])
  expect(field('totp_code')).toMatchObject(numeric)
  expect(field('lookup_secret')).not.toHaveProperty('inputmode')
  expect((await draw(FLOWS.login)).field('identifier').autocomplete).toBe('username')
})

test('A page has a button for every provider, also unknown ones and those with odd names', async () => {
  const known = await draw(FLOWS['login-refused'])
  for (const id of PROVIDERS) {
    expect(known.one('button', { value: id }).text).toBe(`Continue with ${providerName(id)}`)
    expect(known.html).toContain(`<svg class="mark ${id}"`)
  }
  const { one, all } = await drawn([
    csrf(),
    submit('oidc', 'provider', 'constructor', 'Enter'),
    submit('totp', 'constructor', 'true', 'Do it'),
  ])
  expect(one('button', { value: 'constructor' }).text).toBe('CEnter')
  expect(one('button', { name: 'constructor' }).text).toBe('Do it')
  expect(all('details')).toEqual([])
})

test('A page has the authenticator key in groups of four, and recovery codes one by one', async () => {
  const { tags } = await draw(FLOWS['settings-new'])
  const key = tags.find(({ attributes }) => attributes.class === 'key')
  const groups = tags.filter(({ tag, text }) => tag === 'span' && /^[A-Z2-7]{4}$/.test(text))
  expect([key?.text, groups.length]).toEqual([SECRET, 8])
  expect((await draw(FLOWS['settings-kept'])).textsOf('li')).toEqual(CODES)
  const odd = says(1050015, 'codes', 'info', { secrets: ['plain', null, 7, {}] })
  const { textsOf } = await drawn([text('lookup_secret', 'lookup_secret_codes', odd)])
  expect(textsOf('li')).toEqual(['plain', '', '', ''])
})

const HIDDEN = `(csrf_token=${CSRF})`
const ADDRESSED = `${HIDDEN} (identifier=ada@example.com)`

test.each<[string, FlowPage, string[]]>([
  [
    'one for all methods with the address, another for providers',
    FLOWS.login,
    [
      `${HIDDEN} identifier password [method=password] [method=code]`,
      `${HIDDEN} [provider=github] [provider=google] [provider=apple]`,
    ],
  ],
  [
    'one for a code, another to request a new one',
    FLOWS['login-code'],
    [`${ADDRESSED} code [method=code]`, `${ADDRESSED} (method=code) [resend=code]`],
  ],
  [
    'the same for recovery',
    FLOWS['recovery-code'],
    [`${HIDDEN} code [method=code]`, `${HIDDEN} (method=code) [email=ada@example.com]`],
  ],
  [
    'hidden fields for methods without own fields',
    flowPage({
      nodes: [
        csrf(),
        input('default', { name: 'identifier', type: 'hidden', value: 'ada@example.com' }),
        input('password', { name: 'password', type: 'password' }),
        submit('password', 'method', 'password', 'Sign in'),
        submit('code', 'address', 'ada@example.com', 'Send a code'),
      ],
    }),
    [`${ADDRESSED} password [method=password]`, `${ADDRESSED} [address=ada@example.com]`],
  ],
  [
    'a missing field together with the provider that needs it',
    FLOWS['registration-address'],
    [`${HIDDEN} traits.email [provider=github]`],
  ],
  [
    'one for each part of the settings',
    FLOWS['settings-new'],
    [
      `${HIDDEN} traits.email [method=profile]`,
      `${HIDDEN} password [method=password]`,
      `${HIDDEN} [unlink=github] [link=google] [link=microsoft]`,
      `${HIDDEN} totp_code [method=totp]`,
      `${HIDDEN} [lookup_secret_regenerate=true]`,
    ],
  ],
  ['none without fields', FLOWS['verification-done'], []],
])('Forms are %s', async (_, page, shapes) => {
  expect((await draw(page)).shapes).toEqual(shapes)
})

test('Forms go to the action of the flow by POST; an empty password does not block a code', async () => {
  const { all, one } = await draw(FLOWS.login)
  const action = 'https://gate.example.org/auth/self-service/login?flow=0197d6c2'
  for (const { attributes } of all('form'))
    expect(attributes).toMatchObject({ action, method: 'post' })
  expect(one('button', { value: 'code' }).attributes).toHaveProperty('formnovalidate')
  expect(one('button', { value: 'password' }).attributes).not.toHaveProperty('formnovalidate')
  const address = await draw(FLOWS['registration-address'])
  expect(address.one('button').attributes.class).toBe('primary provider')
})

test('The form for a recovery code is folded until it is used or alone', async () => {
  const foldsIn = async (nodes: Node[], rest: object = {}) =>
    (await drawn(nodes, rest)).all('details').length
  const nodes = nodesOf(FLOWS['login-second-factor'])
  const wrong = withMessage(nodes, 'lookup_secret', says(4000016, 'wrong', 'error'))
  expect(await foldsIn(nodes)).toBe(1)
  expect(await foldsIn(nodes, { flow: { active: 'lookup_secret' } })).toBe(0)
  expect(await foldsIn(wrong)).toBe(0)
  expect(await foldsIn(nodes.filter(({ group }) => group !== 'totp'))).toBe(0)
})

test('Forms of settings have headings, mark removals, and ask before what cannot be undone', async () => {
  const added = await draw(FLOWS['settings-new'])
  const last = ['Connected accounts', 'Authenticator app', 'Recovery codes']
  expect(added.textsOf('h2')).toEqual(['Profile', 'Password', ...last])
  const { one, all } = await draw(FLOWS['settings-kept'])
  expect(one('button', { name: 'unlink', value: 'github' }).attributes.class).toBe('danger')
  expect(one('button', { name: 'totp_unlink' }).attributes.class).toBe('danger')
  expect(one('summary').text).toBe('Remove authenticator app')
  const primary = all('button', { class: 'primary' }).map(({ text }) => text)
  expect(primary).toEqual(['Save', "I've saved my recovery codes"])
})

const ERROR = says(4000001, 'An error of this node.', 'error')

test('Messages of every kind of node are shown once', async () => {
  for (const node of [
    input('default', { name: 'identifier' }, 'Address', [ERROR]),
    input('default', { name: 'traits.a', type: 'checkbox' }, 'Tick', [ERROR]),
    input('default', { name: 'csrf_token', type: 'hidden' }, '', [ERROR]),
    { ...submit('password', 'method', 'password', 'Go'), messages: [ERROR] },
    { ...submit('oidc', 'provider', 'github', 'GitHub'), messages: [ERROR] },
    { ...text('code', 'a', says(1, 'words')), messages: [ERROR] },
    { ...picture('data:image/png;base64,'), messages: [ERROR] },
    { ...link('https://app.example.com/', 'on'), messages: [ERROR] },
  ])
    expect((await drawn([csrf(), node])).html.split(ERROR.text)).toHaveLength(2)
})

test('Messages of a field are tied to it, and only errors mark it', async () => {
  const hint = says(1, 'At least 8 characters.')
  const { one, field } = await drawn([
    input('default', { name: 'identifier' }, 'Address', [ERROR, hint]),
    input('password', { name: 'password', type: 'password' }, 'Password', [hint]),
    input('default', { name: 'traits.quiet' }, 'Quiet'),
  ])
  const { 'aria-describedby': id = '', 'aria-invalid': isInvalid } = field('identifier')
  expect([isInvalid, one('div', { id }).text]).toEqual(['true', ERROR.text + hint.text])
  expect(field('password')['aria-describedby']).toBeDefined()
  expect(field('password')).not.toHaveProperty('aria-invalid')
  expect(field('traits.quiet')).not.toHaveProperty('aria-describedby')
})

test('Messages of the flow are above the forms with their roles, and errors are in the title', async () => {
  const messages = [
    says(4000006, 'It is wrong.', 'error'),
    says(1050001, 'It is saved.', 'success'),
    says(1010014, 'It is on its way.'),
  ]
  const { tags, one } = await drawn(nodesOf(FLOWS.login), { messages })
  const firstForm = tags.findIndex(({ tag }) => tag === 'form')
  const roles = tags.slice(0, firstForm).filter(({ attributes }) => attributes.role)
  expect(roles.map(({ text, attributes }) => [text, attributes.role])).toEqual([
    ['It is on its way.', 'status'],
    ['It is wrong.', 'alert'],
    ['It is saved.', 'status'],
  ])
  expect(one('title').text).toBe('Error: Sign in to Acme')
  const right = await drawn([], { messages: [says(1, 'A hint.')] })
  expect(right.one('title').text).toBe('Sign in to Acme')
})

test.each<[string, string[]]>([
  ['login', ['identifier']],
  ['login-refused', ['password']],
  ['login-second-factor', ['totp_code']],
  ['registration', ['password']],
  ['login-recovery-code', ['lookup_secret']],
  ['settings-wrong', ['traits.email']],
  ['settings-new', []],
])('The page %s focuses %j: what is wrong, else the first empty field', async (name, focused) => {
  const { tags } = await draw(FLOWS[name] as FlowPage)
  const found = tags.filter(({ attributes }) => 'autofocus' in attributes)
  expect(found.map(({ attributes }) => attributes.name ?? '')).toEqual(focused)
})

const MARKUP = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&`

test('Text of strangers is never markup, nor a link', async () => {
  const message = says(1, MARKUP, 'error', { secret: MARKUP, provider: MARKUP })
  const nodes: Node[] = [
    input('default', { name: 'csrf_token', type: 'hidden', value: MARKUP }),
    input('default', { name: MARKUP, value: MARKUP, pattern: MARKUP }, message, [message]),
    input('default', { name: 'traits.c', type: 'checkbox', value: MARKUP }, message, [message]),
    submit('password', MARKUP, MARKUP, message),
    submit('oidc', 'provider', MARKUP, message),
    submit('oidc', 'unlink', MARKUP, message),
    text('code', MARKUP, message, MARKUP),
    text('lookup_secret', 'x', says(1, '', 'info', { secrets: [MARKUP, message] })),
    picture(MARKUP),
    link(MARKUP, MARKUP),
  ]
  for (const kind of ['login', 'settings'] as const) {
    const links = [{ kind: 'recovery' as const, url: MARKUP }]
    const page = await drawn(nodes, { kind, tenantName: MARKUP, messages: [message], links })
    expect([page.all('script'), page.all('img').length]).toEqual([[], 1])
    const names = page.tags.flatMap(({ attributes }) => Object.keys(attributes))
    expect(names.filter((name) => /^on|^style$/.test(name))).toEqual([])
    expect(page.field(MARKUP).value).toBe(MARKUP)
  }
  for (const url of ['javascript:alert(1)', ' java\tscript:alert(1)', 'data:text/html,x']) {
    const page = await drawn([link(url, 'Go')], { links: [{ kind: 'login', url }] })
    expect(page.all('a').map(({ attributes }) => 'href' in attributes)).toEqual([false, false])
  }
})

test('Text of strangers is shortened and can not change the direction', async () => {
  const page = await draw(FLOWS.hostile as FlowPage)
  const name = page.one('bdi').text
  expect(name).toMatch(/^<script>alert\(1\)<\/script>.*…$/s)
  expect(name).not.toMatch(/[\u202a-\u202e\u2066-\u2069\n]/)
  for (const { length } of [name, page.one('title').text]) expect(length).toBeLessThan(400)
  expect(page.html.length).toBeLessThan(8_000)
  const notice = await draw({ ...(noticeFixtures()[0] as NoticePage), tenantName: HOSTILE_NAME })
  expect(notice.one('bdi').text).toBe(name)
})

test.each([
  ['Größe & Söhne', 'Größe & Söhne'],
  ['👨‍👩‍👧 شركة', '👨‍👩‍👧 شركة'],
  ['$& {tenant}', '$& {tenant}'],
  ['\u200b \u202e', '…'],
  [`A${'\u0301'.repeat(40)}cme`, `A${'\u0301'.repeat(3)}cme`.normalize('NFC')],
])('The tenant name %j is shown as %j', async (tenantName, shown) => {
  const { one } = await drawn([], { tenantName })
  expect(one('h1').text.normalize('NFC')).toBe(`Sign in to ${shown}`)
})

const SENT = { flow: { state: 'sent_email' as const } }
const PASSED = { flow: { state: 'passed_challenge' as const } }

test.each<[string, Partial<Parameters<typeof flowPage>[0]>]>([
  ['Sign in to Acme', {}],
  ['Enter the code from Acme', SENT],
  ['Sign in to Acme again', { flow: { refresh: true } }],
  ['Two-factor authentication for Acme', { flow: { requested_aal: 'aal2' } }],
  ['Welcome back to Acme', { kind: 'recovery', ...PASSED }],
  ['Email address verified for Acme', { kind: 'verification', ...PASSED }],
  ['Your Acme account', SETTINGS],
])('Headings say which step it is: %s', async (heading, page) => {
  expect((await drawn([csrf()], page)).one('h1').text).toBe(heading)
})

test('Headings are translated on every page, with the language of the flow', async () => {
  for (const page of Object.values(FLOWS)) {
    const headings = LANGUAGES.map(async (language) => {
      const { textsOf } = await draw({ ...page, language })
      return [...textsOf('h1'), ...textsOf('h2')].join()
    })
    expect(new Set(await Promise.all(headings)).size).toBe(LANGUAGES.length)
  }
  const tenantName = 'Bäckerei Müller & Söhne'
  const page = await draw({ ...GERMAN, tenantName })
  expect(page.one('html').attributes.lang).toBe('de')
  for (const tag of ['h1', 'title'])
    expect(page.one(tag).text).toBe('Bei Bäckerei Müller & Söhne anmelden')
  expect(page.tags.some(({ text }) => text === 'oder')).toBe(true)
  expect(page.textsOf('a')).toEqual(['Konto erstellen', 'Passwort vergessen?'])
})

test('After an email, a page asks for its code, unless a link has brought it or asks for a choice', async () => {
  const heading = async (page: FlowPage) => (await draw(page)).one('h1').text
  expect(await heading(FLOWS['recovery-code'])).toStartWith('Enter the code from')
  expect(await heading(FLOWS['recovery-link'])).toStartWith('Recover your')
  expect(await heading(FLOWS['verification-choice'])).toStartWith('Verify your')
})

test('A notice has words, a status and a title with the tenant, and focuses nothing', async () => {
  for (const page of noticeFixtures()) {
    const { one, status, html } = await draw(page)
    expect([status, html.includes('autofocus')]).toEqual([page.status, false])
    const german = await draw({ ...page, language: 'de' })
    expect(['', german.one('h1').text]).not.toContain(one('h1').text)
    expect(german.one('html').attributes.lang).toBe('de')
  }
  const [known] = noticeFixtures() as [NoticePage]
  expect((await draw(known)).one('title').text).toBe("You're signed in · Acme")
  expect((await draw({ ...known, tenantName: null })).one('title').text).toBe("You're signed in")
})

test('The only script shows passwords, on pages that have one, and is allowed by its hash', async () => {
  const scriptsOf = async (page: FlowPage | NoticePage) => {
    const { headers, html } = await draw(page)
    const policy = headers.get('content-security-policy') ?? ''
    const [, allowed] = /script-src ([^;]+);/.exec(policy) ?? []
    return { allowed, scripts: html.match(/(?<=<script>).*?(?=<\/script>)/gs) ?? [] }
  }
  const { allowed, scripts } = await scriptsOf(FLOWS.login as FlowPage)
  expect(scripts).toHaveLength(1)
  expect(allowed).toBe(`'sha256-${hash('sha256', scripts[0] ?? '', 'base64')}'`)
  const withoutPassword = flowPage({ nodes: [input('default', { name: 'identifier' })] })
  for (const page of [withoutPassword, ...noticeFixtures()])
    expect(await scriptsOf(page)).toEqual({ allowed: "'none'", scripts: [] })
})

test('The answer allows forms only to its own origin, https and named origins', async () => {
  const policyOf = async (formTargets: string[]) =>
    (await drawn([], { formTargets })).headers.get('content-security-policy')
  expect(await policyOf([])).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; script-src 'none'; " +
      "form-action 'self' https: https://gate.example.org; base-uri 'none'; frame-ancestors 'none'",
  )
  const policy = await policyOf([
    'http://localhost:3000',
    'http://a;script-src *',
    'http://app.example.com/path',
    'http://user@app.example.com',
    'javascript:alert(1)',
    '*',
  ])
  expect(policy).toContain(
    "; form-action 'self' https: https://gate.example.org http://localhost:3000; base-uri",
  )
  expect(policy?.match(/script-src/g)).toHaveLength(1)
})

test('The assets of a page are served, and cached', async () => {
  await using app = await bootTestApp()
  const assets = (await draw(FLOWS.login)).all('link').map(({ attributes }) => attributes.href)
  expect(assets.length).toBeGreaterThan(1)
  for (const path of assets) {
    expect(path).toStartWith('/assets/')
    const { status, headers } = await app.raw(path as string)
    expect([status, headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ])
  }
})
