import { describe, expect, test } from 'bun:test'
import { createFlowPages } from '../../src/console/flow-pages.ts'
import type { FlowPage, NoticePage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import { LANGUAGES, type Message, type Node } from '../../src/engines/gate/sign-in/model.ts'
import { bootTestApp } from '../support/app.ts'
import {
  CODES,
  CSRF,
  csrf,
  flowFixtures,
  flowPage,
  HOSTILE_NAME,
  input,
  keptSettingsNodes,
  link,
  loginCodeNodes,
  loginNodes,
  newSettingsNodes,
  noticeFixtures,
  PROVIDER_NAMES,
  picture,
  provider,
  says,
  secondFactorNodes,
  submit,
  text,
} from '../support/flow-fixtures.ts'

const pages = createFlowPages()
const {
  login,
  recovery,
  'recovery-code': recoveryCode,
} = flowFixtures() as Record<string, FlowPage>

const draw = (page: FlowPage | NoticePage | undefined) =>
  open((page && 'flow' in page ? pages.flow(page) : pages.notice(page as NoticePage)) as Response)

const drawn = (nodes: Node[], rest: Partial<Parameters<typeof flowPage>[0]> = {}) =>
  draw(flowPage({ nodes, ...rest }))

interface Tag {
  tag: string
  attributes: Record<string, string>
  text: string
  /** Position of its form, if it is in one. */
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
        if (inside.at(-1)?.tag === undefined) return
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
  return { html, tags, all, one, shapes, headers: response.headers, status: response.status }
}

const VOID = ['meta', 'link', 'input', 'img', 'br', 'path', 'circle']

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (text: string) =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name) => ENTITIES[name] ?? whole)

describe('a flow is drawn', () => {
  test.each([
    ['text', 'text'],
    ['password', 'password'],
    ['email', 'email'],
    ['tel', 'tel'],
    ['number', 'number'],
    ['url', 'url'],
    ['date', 'date'],
    ['datetime-local', 'datetime-local'],
    ['file', 'text'],
  ])('with a node of the type %s as a labelled field of the type %s', async (type, expected) => {
    const node = input('default', { name: 'traits.x y', type, required: true }, 'What it is')
    const { one } = await drawn([csrf(), node])

    const { attributes } = one('input', { name: 'traits.x y' })
    expect(attributes).toMatchObject({ type: expected, required: expect.any(String) })
    expect(attributes.id).toMatch(/^[\w-]+$/)
    expect(one('label', { for: attributes.id as string }).text).toBe('What it is')
  })

  test('with what a field says of itself: value, pattern, length, disabled, autocomplete', async () => {
    const { one } = await drawn([
      input('default', {
        name: 'traits.name',
        value: 'Ada',
        pattern: '[A-Z].*',
        maxlength: 20,
        disabled: true,
        autocomplete: 'name',
      }),
    ])

    expect(one('input', { name: 'traits.name' }).attributes).toMatchObject({
      value: 'Ada',
      pattern: '[A-Z].*',
      maxlength: '20',
      disabled: expect.any(String),
      autocomplete: 'name',
    })
    expect(one('label').text).toContain('traits.name')
  })

  test('with a tick that is sent as true, and is set where the value says so', async () => {
    const { one } = await drawn([
      input('default', { name: 'traits.a', type: 'checkbox', value: 'true' }),
      input('default', { name: 'traits.b', type: 'checkbox', value: '' }),
    ])

    const ticked = one('input', { name: 'traits.a' }).attributes
    const empty = one('input', { name: 'traits.b' }).attributes
    expect([ticked.type, ticked.value, 'checked' in ticked]).toEqual(['checkbox', 'true', true])
    expect([empty.type, empty.value, 'checked' in empty]).toEqual(['checkbox', 'true', false])
  })

  test('with pictures, words and links where they stand', async () => {
    const { tags } = await drawn([
      text('code', 'a', says(1, 'first')),
      picture('data:image/png;base64,AA=='),
      link('https://app.example.com/', 'last'),
    ])

    const seen = tags.filter(
      ({ tag, text, attributes }) =>
        tag === 'img' || (tag === 'p' && text === 'first') || attributes.href?.startsWith('https'),
    )
    expect(seen.map(({ tag }) => tag)).toEqual(['p', 'a', 'img'])
    expect(seen.at(-1)?.attributes).toMatchObject({
      src: 'data:image/png;base64,AA==',
      width: '256',
      height: '256',
      alt: 'QR code for your authenticator app',
    })
  })

  test('with a password never shown again, whatever the node holds', async () => {
    const { html } = await drawn([
      input('password', { name: 'password', type: 'password', value: 'correct horse' }),
    ])

    expect(html).not.toContain('correct horse')
  })

  test('with large numeric fields for codes, and names for password managers', async () => {
    const sent = await drawn(loginCodeNodes())
    expect(sent.one('input', { name: 'code' }).attributes).toMatchObject({
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      pattern: '[0-9]+',
      maxlength: '6',
      class: 'code',
    })

    const second = await drawn(secondFactorNodes())
    expect(second.one('input', { name: 'totp_code' }).attributes).toMatchObject({
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
    })
    expect(second.one('input', { name: 'lookup_secret' }).attributes).not.toHaveProperty(
      'inputmode',
    )

    const first = await draw(login)
    expect(first.one('input', { name: 'identifier' }).attributes.autocomplete).toBe('username')
  })

  test('with the button of a provider that nobody knows', async () => {
    const { one } = await drawn([csrf(), submit('oidc', 'provider', 'constructor', 'Enter')])

    expect(one('button', { value: 'constructor' }).text).toBe('CEnter')
  })

  test('with a button that has an odd name as any other', async () => {
    const { one, all } = await drawn([csrf(), submit('totp', 'constructor', 'true', 'Do it')])

    expect(one('button', { name: 'constructor' }).text).toBe('Do it')
    expect(all('details')).toEqual([])
  })

  test('with the whole label of a provider, also where only its name is seen', async () => {
    const ids = Object.keys(PROVIDER_NAMES) as (keyof typeof PROVIDER_NAMES)[]
    const { one } = await drawn([csrf(), ...ids.map((id) => provider(id))])

    for (const id of ids)
      expect(one('button', { value: id }).text).toEndWith(`Sign in with ${PROVIDER_NAMES[id]}`)
  })

  test('with the key of an authenticator in fours, and whole without the gaps', async () => {
    const { tags } = await drawn(newSettingsNodes(), { kind: 'settings' })

    const key = tags.find(({ attributes }) => attributes.class === 'key')
    const fours = tags.filter(({ tag, text }) => tag === 'span' && /^[A-Z2-7]{4}$/.test(text))
    expect(key?.text).toBe('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP')
    expect(fours).toHaveLength(8)
  })

  test('with recovery codes one by one, whether messages, words or text', async () => {
    const kept = await drawn(keptSettingsNodes(), { kind: 'settings' })
    expect(kept.all('li').map(({ text }) => text)).toEqual([...CODES, 'Already used'])

    const odd = says(1050015, 'codes', 'info', { secrets: ['plain', null, 7, {}] })
    const { all } = await drawn([text('lookup_secret', 'lookup_secret_codes', odd)])
    expect(all('li').map(({ text }) => text)).toEqual(['plain', '', '', ''])
  })
})

describe('forms', () => {
  test('go to the action of the flow, by POST', async () => {
    const { all } = await draw(login)

    for (const { attributes } of all('form'))
      expect([attributes.action, attributes.method]).toEqual([
        'https://gate.example.org/auth/self-service/login?flow=0197d6c2',
        'post',
      ])
  })

  test('methods that share the address share a form, and providers have one of their own', async () => {
    const { shapes } = await draw(login)

    expect(shapes).toEqual([
      `(csrf_token=${CSRF}) identifier password [method=password] [method=code]`,
      `(csrf_token=${CSRF}) [provider=github] [provider=google] [provider=apple]`,
    ])
  })

  test('the button for a code is not held up by an empty password, the one for the password is', async () => {
    const { one } = await draw(login)

    expect(one('button', { value: 'code' }).attributes).toHaveProperty('formnovalidate')
    expect(one('button', { value: 'password' }).attributes).not.toHaveProperty('formnovalidate')
  })

  test('another code is asked for apart from the field for the code', async () => {
    const { shapes } = await drawn(loginCodeNodes())
    expect(shapes).toEqual([
      `(csrf_token=${CSRF}) (identifier=ada@example.com) code [method=code]`,
      `(csrf_token=${CSRF}) (identifier=ada@example.com) (method=code) [resend=code]`,
    ])

    expect((await draw(recoveryCode)).shapes).toEqual([
      `(csrf_token=${CSRF}) code [method=code]`,
      `(csrf_token=${CSRF}) (method=code) [email=ada@example.com]`,
    ])
    expect((await draw(recovery)).shapes).toEqual([`(csrf_token=${CSRF}) email [method=code]`])
  })

  test('a method with no fields of its own gets what is sent along unseen', async () => {
    const { shapes } = await drawn([
      csrf(),
      input('default', { name: 'identifier', type: 'hidden', value: 'ada@example.com' }),
      input('password', { name: 'password', type: 'password' }),
      submit('password', 'method', 'password', 'Sign in'),
      submit('code', 'address', 'ada@example.com', 'Send a code'),
    ])

    expect(shapes).toEqual([
      `(csrf_token=${CSRF}) (identifier=ada@example.com) password [method=password]`,
      `(csrf_token=${CSRF}) (identifier=ada@example.com) [address=ada@example.com]`,
    ])
  })

  test('a field for want of which a provider cannot go on is sent with the provider', async () => {
    const { shapes, one } = await draw(flowFixtures()['registration-address'])

    expect(shapes).toEqual([`(csrf_token=${CSRF}) traits.email [provider=github]`])
    expect(one('button').attributes.class).toBe('primary provider')
  })

  test('each second factor has its own, the recovery code behind a fold until it is used', async () => {
    const folded = await drawn(secondFactorNodes())
    expect(folded.shapes).toEqual([
      `(csrf_token=${CSRF}) totp_code [method=totp]`,
      `(csrf_token=${CSRF}) lookup_secret [method=lookup_secret]`,
    ])
    expect(folded.all('details')).toHaveLength(1)

    const used = await drawn(secondFactorNodes(), { flow: { active: 'lookup_secret' } })
    expect(used.all('details')).toHaveLength(0)
    const wrong = await drawn(secondFactorNodes([says(4000016, 'wrong', 'error')]))
    expect(wrong.all('details')).toHaveLength(0)
    const alone = await drawn(secondFactorNodes().filter(({ group }) => group !== 'totp'))
    expect(alone.all('details')).toHaveLength(0)
  })

  test('each part of the settings has its own, under a heading', async () => {
    const { shapes, all } = await drawn(newSettingsNodes(), { kind: 'settings' })

    expect(shapes).toEqual([
      `(csrf_token=${CSRF}) traits.email [method=profile]`,
      `(csrf_token=${CSRF}) password [method=password]`,
      `(csrf_token=${CSRF}) [unlink=github] [link=google] [link=microsoft]`,
      `(csrf_token=${CSRF}) totp_code [method=totp]`,
      `(csrf_token=${CSRF}) [lookup_secret_regenerate=true]`,
    ])
    expect(all('h2').map(({ text }) => text)).toEqual([
      'Profile',
      'Password',
      'Connected accounts',
      'Authenticator app',
      'Recovery codes',
    ])
  })

  test('removing is marked as such, and what cannot be taken back asks first', async () => {
    const { one, all } = await drawn(keptSettingsNodes(), { kind: 'settings' })

    expect(one('button', { name: 'unlink', value: 'github' }).attributes.class).toBe('danger')
    expect(one('button', { name: 'totp_unlink' }).attributes.class).toBe('danger')
    expect(one('summary').text).toBe('Remove authenticator app')
    expect(all('button', { class: 'primary' }).map(({ text }) => text)).toEqual([
      'Save',
      "I've saved my recovery codes",
    ])
  })

  test('nothing to send makes no form', async () => {
    const { all } = await drawn([csrf(), link('https://app.example.com/', 'Continue')])

    expect(all('form')).toEqual([])
    expect(all('input')).toEqual([])
  })
})

describe('what is said', () => {
  const error = says(4000001, 'An error of this node.', 'error')

  const carriers: [string, Node][] = [
    ['a field', input('default', { name: 'identifier' }, 'Address', [error])],
    ['a tick', input('default', { name: 'traits.a', type: 'checkbox' }, 'Tick', [error])],
    ['a hidden field', input('default', { name: 'csrf_token', type: 'hidden' }, '', [error])],
    ['a button', { ...submit('password', 'method', 'password', 'Go'), messages: [error] }],
    ['a provider', { ...provider('github'), messages: [error] }],
    ['words', { ...text('code', 'a', says(1, 'words')), messages: [error] }],
    ['a picture', { ...picture('data:image/png;base64,'), messages: [error] }],
    ['a link', { ...link('https://app.example.com/', 'on'), messages: [error] }],
  ]

  test.each(carriers)('of %s is seen once', async (_, node) => {
    const { html } = await drawn([csrf(), node])

    expect(html.split(error.text)).toHaveLength(2)
  })

  test('of a field is tied to it, and marks it only if it is an error', async () => {
    const hint = says(1, 'At least 8 characters.')
    const { one } = await drawn([
      input('default', { name: 'identifier' }, 'Address', [error, hint]),
      input('password', { name: 'password', type: 'password' }, 'Password', [hint]),
      input('default', { name: 'traits.quiet' }, 'Quiet'),
    ])

    const wrong = one('input', { name: 'identifier' }).attributes
    const remarks = one('div', { id: wrong['aria-describedby'] as string })
    expect(wrong['aria-invalid']).toBe('true')
    expect(remarks.text).toBe(`${error.text}${hint.text}`)

    const right = one('input', { name: 'password' }).attributes
    expect(right['aria-describedby']).toBeDefined()
    expect(right).not.toHaveProperty('aria-invalid')
    expect(one('input', { name: 'traits.quiet' }).attributes).not.toHaveProperty('aria-describedby')
  })

  test('of the whole stands on top: errors as alerts, the rest as status', async () => {
    const messages: Message[] = [
      says(4000006, 'It is wrong.', 'error'),
      says(1050001, 'It is saved.', 'success'),
      says(1010014, 'It is on its way.'),
    ]
    const { tags } = await drawn(loginNodes(), { messages })

    const roles = Object.fromEntries(
      tags
        .filter(({ attributes }) => attributes.role)
        .map((tag) => [tag.text, tag.attributes.role]),
    )
    expect(roles).toEqual({
      'It is wrong.': 'alert',
      'It is saved.': 'status',
      'It is on its way.': 'status',
    })
    const firstForm = tags.findIndex(({ tag }) => tag === 'form')
    for (const { text } of messages)
      expect(tags.findIndex((tag) => tag.text === text)).toBeLessThan(firstForm)
  })

  test('is in the title, too, if there is something to correct', async () => {
    const wrong = await drawn(loginNodes(), { messages: [error] })
    expect(wrong.one('title').text).toBe('Error: Sign in to Acme')

    const right = await drawn(loginNodes(), { messages: [says(1, 'A hint.')] })
    expect(right.one('title').text).toBe('Sign in to Acme')
  })
})

describe('typing goes at first', () => {
  const focused = async (page: FlowPage | undefined) =>
    (await draw(page)).tags
      .filter(({ attributes }) => 'autofocus' in attributes)
      .map(({ attributes }) => attributes.name)

  test('to the first empty field, and to no other', async () => {
    expect(await focused(login)).toEqual(['identifier'])
    expect(await focused(flowFixtures()['login-refused'])).toEqual(['password'])
    expect(await focused(flowFixtures()['login-second-factor'])).toEqual(['totp_code'])
  })

  test('to what has to be corrected, even if something else is empty', async () => {
    expect(await focused(flowFixtures().registration)).toEqual(['password'])
    expect(await focused(flowFixtures()['login-recovery-code'])).toEqual(['lookup_secret'])
    expect(await focused(flowFixtures()['settings-wrong'])).toEqual(['traits.email'])
  })

  test('nowhere on settings that are fine, and on notices', async () => {
    expect(await focused(flowFixtures()['settings-new'])).toEqual([])
    for (const notice of noticeFixtures())
      expect((await draw(notice)).html).not.toContain('autofocus')
  })
})

describe('a stranger', () => {
  const MARKUP = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&`

  test('puts no markup into a page, wherever it comes from', async () => {
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
      const page = await drawn(nodes, {
        kind,
        tenantName: MARKUP,
        messages: [message],
        links: [{ kind: 'recovery', url: MARKUP }],
      })

      expect(page.all('script')).toEqual([])
      expect(page.all('img')).toHaveLength(1)
      const names = page.tags.flatMap(({ attributes }) => Object.keys(attributes))
      expect(names.filter((name) => name.startsWith('on') || name === 'style')).toEqual([])
      expect(page.one('input', { name: MARKUP }).attributes.value).toBe(MARKUP)
    }
  })

  test('cannot have a link that runs something', async () => {
    for (const url of ['javascript:alert(1)', ' java\tscript:alert(1)', 'data:text/html,x']) {
      const page = await drawn([link(url, 'Go')], { links: [{ kind: 'login', url }] })
      expect(page.all('a').map(({ attributes }) => 'href' in attributes)).toEqual([false, false])
    }
  })

  test('with a long name, or one turned round, keeps to a line or two', async () => {
    const page = await draw(flowFixtures().hostile)
    const name = page.one('bdi').text

    expect(name).toStartWith('<script>alert(1)</script>')
    expect(name.length).toBeLessThan(400)
    expect(name).toEndWith('…')
    expect(name).not.toMatch(/[\u202a-\u202e\u2066-\u2069\n]/)
    expect(page.one('title').text.length).toBeLessThan(400)
    expect(page.html.length).toBeLessThan(8_000)

    const notice = await draw({ ...(noticeFixtures()[0] as NoticePage), tenantName: HOSTILE_NAME })
    expect(notice.one('bdi').text).toBe(name)
  })

  test('with marks heaped upon a letter stays within the line', async () => {
    const page = await drawn(loginNodes(), { tenantName: `A${'\u0301'.repeat(40)}cme` })

    expect(page.one('bdi').text.normalize('NFD')).toBe(`A${'\u0301'.repeat(3)}cme`)
  })

  test('with a name of nothing that can be seen still has a page', async () => {
    const page = await drawn(loginNodes(), { tenantName: '\u200b \u202e' })

    expect(page.one('h1').text).toBe('Sign in to …')
  })

  test('is called as is when the name is an honest one', async () => {
    for (const tenantName of [
      'Acme',
      'Größe & Söhne',
      'شركة',
      '株式会社',
      '👨‍👩‍👧 Home',
      '$& {tenant}',
    ])
      expect((await drawn(loginNodes(), { tenantName })).one('h1').text).toBe(
        `Sign in to ${tenantName}`,
      )
  })
})

describe('language', () => {
  test('of the page is that of the flow', async () => {
    const page = await draw(flowFixtures().german)

    expect(page.one('html').attributes.lang).toBe('de')
    expect(page.one('h1').text).toBe('Bei Bäckerei Müller & Söhne anmelden')
    expect(page.one('title').text).toBe('Bei Bäckerei Müller & Söhne anmelden')
    expect(page.tags.some(({ text }) => text === 'oder')).toBe(true)
    expect(page.all('a').map(({ text }) => text)).toEqual([
      'Konto erstellen',
      'Passwort vergessen?',
    ])
    expect((await draw(login)).one('html').attributes.lang).toBe('en')
  })

  test('every heading that the pages have differs from language to language', async () => {
    for (const page of Object.values(flowFixtures())) {
      const headings = LANGUAGES.map(async (language) => {
        const { all } = await draw({ ...page, language })
        return [...all('h1'), ...all('h2')].map(({ text }) => text).join()
      })
      expect(new Set(await Promise.all(headings)).size).toBe(LANGUAGES.length)
    }
  })

  test('the page of each step says which it is', async () => {
    const headings = async (states: Partial<Parameters<typeof flowPage>[0]>[]) =>
      Promise.all(states.map(async (state) => (await drawn([csrf()], state)).one('h1').text))
    const sent = { flow: { state: 'sent_email' as const } }
    const passed = { flow: { state: 'passed_challenge' as const } }

    expect(
      await headings([
        {},
        sent,
        { flow: { refresh: true } },
        { flow: { requested_aal: 'aal2' } },
        { kind: 'registration' },
        { kind: 'recovery' },
        { kind: 'recovery', ...sent },
        { kind: 'recovery', ...passed },
        { kind: 'verification' },
        { kind: 'verification', ...passed },
        { kind: 'settings' },
      ]),
    ).toEqual([
      'Sign in to Acme',
      'Enter the code from Acme',
      'Sign in to Acme again',
      'Two-factor authentication for Acme',
      'Create your Acme account',
      'Recover your Acme account',
      'Enter the code from Acme',
      'Welcome back to Acme',
      'Verify your email address for Acme',
      'Email address verified for Acme',
      'Your Acme account',
    ])
  })
})

describe('a notice', () => {
  test.each(noticeFixtures())('that says $notice has words and a status', async (page) => {
    const { one, status } = await draw(page)

    expect(status).toBe(page.status)
    expect(one('h1').text).not.toBe('')
    const german = await draw({ ...page, language: 'de' })
    expect(german.one('h1').text).not.toBe(one('h1').text)
    expect(german.one('html').attributes.lang).toBe('de')
  })

  test('names the tenant if it is known', async () => {
    const [known] = noticeFixtures() as [NoticePage]

    expect((await draw(known)).one('title').text).toBe("You're signed in · Acme")
    expect((await draw({ ...known, tenantName: null })).one('title').text).toBe("You're signed in")
  })
})

describe('the answer', () => {
  const policyOf = async (formTargets: string[]) =>
    (await drawn(loginNodes(), { formTargets })).headers.get('content-security-policy')

  test('has the status of the page, and is HTML', async () => {
    const { status, headers } = await drawn(loginNodes(), { status: 422 })

    expect(status).toBe(422)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test('allows a style sheet and pictures, no script at all, and forms to https and home', async () => {
    expect(await policyOf([])).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'none'; " +
        "form-action 'self' https: https://gate.example.org; base-uri 'none'; frame-ancestors 'none'",
    )
  })

  test('lets forms lead to the origins named, and to nothing that is none', async () => {
    const policy = await policyOf([
      'http://localhost:3000',
      'http://a;script-src *',
      "http://a;script-src'unsafe-inline'",
      'http://app.example.com/path',
      'http://user@app.example.com',
      'javascript:alert(1)',
      'http:',
      '*',
      '',
    ])

    expect(policy).toContain(
      "; form-action 'self' https: https://gate.example.org http://localhost:3000; base-uri",
    )
    expect(policy?.match(/script-src/g)).toHaveLength(1)
  })

  test('comes with what every answer carries, and keeps its own policy', async () => {
    await using app = await bootTestApp()
    app.app.get('/pages-of-flows', () => pages.flow(flowPage({ nodes: loginNodes(), status: 422 })))

    const { status, headers, body } = await app.raw('/pages-of-flows')

    expect(status).toBe(422)
    expect(body).toStartWith('<!doctype html><html lang="en">')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toContain("script-src 'none'")
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('names its assets from the root, and they are there', async () => {
    await using app = await bootTestApp()
    const { all } = await draw(login)

    const assets = all('link').map(({ attributes }) => attributes.href as string)
    expect(assets.length).toBeGreaterThan(1)
    for (const path of assets) {
      expect(path).toStartWith('/assets/')
      expect((await app.raw(path)).status).toBe(200)
    }
  })
})
