import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import * as ui from '../../../../../../src/engines/gate/sign-in/flows/ui/index.ts'
import { Node } from '../../../../../../src/engines/gate/sign-in/model.ts'

const say = ui.createSay('en')
const EMAIL = 'a@b.c'

/** A node in one line: group, type, name=value, label, and its other attributes. */
function written({ type, group, attributes, meta }: Node): string {
  if (attributes.node_type !== 'input')
    return `${group} ${type} ${attributes.name} ${meta.label.id}`
  const { node_type: _, disabled, name, type: inputType, value, ...others } = attributes
  expect(disabled).toBe(false)
  const rest = Object.entries(others).map(([key, other]) =>
    other === true ? key : `${key}=${other}`,
  )
  const nameAndValue = value === '' ? name : `${name}=${value}`
  return [group, inputType, nameAndValue, meta.label.id, ...rest.sort()].join(' ')
}

const IDENTIFIER = 'default text identifier 1070002 autocomplete=username required'
const PASSWORD = 'password password password 1070001'
const BY_PASSWORD = 'password submit method=password'
const CODE_SENT = ['code hidden method=code 0', 'code submit method=code 1070009']
const codeField = (label: number) => `code text code ${label} autocomplete=one-time-code required`
const RECOVERY_CODE =
  'code text code 1070010 autocomplete=one-time-code maxlength=6 pattern=[0-9]+ required'
const EMAIL_FIELD = 'email 1070007 autocomplete=email required'
const EMAIL_TRAIT = 'default email traits.email 1070002 autocomplete=email required'
const TOTP = 'autocomplete=one-time-code required'

const TABLE: [string, (say: ui.Say) => Node[], string[]][] = [
  ['every flow', () => [ui.csrfNode('t')], ['default hidden csrf_token=t 0 required']],
  ['the identifier', (say) => [ui.identifierNode(say)], [IDENTIFIER]],
  [
    'the identifier of a known user',
    (say) => [ui.identifierNode(say, { value: EMAIL, isHidden: true })],
    [`default hidden identifier=${EMAIL} 1070002 required`],
  ],
  [
    'login by password',
    (say) => ui.passwordLogin(say, { isRefresh: false }),
    [`${PASSWORD} autocomplete=current-password required`, `${BY_PASSWORD} 1010022`],
  ],
  [
    'login again by password',
    (say) => ui.passwordLogin(say, { isRefresh: true }),
    [`${PASSWORD} autocomplete=current-password required`, `${BY_PASSWORD} 1010001`],
  ],
  ['login by code', ui.codeLogin, ['code submit method=code 1010015']],
  [
    'login by code, sent',
    (say) => ui.codeLoginSent(say, { identifier: EMAIL }),
    [
      `default hidden identifier=${EMAIL} 1070002 required`,
      codeField(1070013),
      ...CODE_SENT,
      'code submit resend=code 1070008',
    ],
  ],
  [
    'login by provider',
    (say) => ui.socialButtons(say, 'login', ['github', 'google']),
    ['oidc submit provider=github 1010002', 'oidc submit provider=google 1010002'],
  ],
  ['login without providers', (say) => ui.socialButtons(say, 'login', []), []],
  [
    'second factor by app',
    ui.totpLogin,
    [`totp text totp_code 1010006 ${TOTP}`, 'totp submit method=totp 1010009'],
  ],
  [
    'second factor by recovery code',
    ui.lookupLogin,
    [
      'lookup_secret text lookup_secret 1010007 required',
      'lookup_secret submit method=lookup_secret 1010010',
    ],
  ],
  ['the address', (say) => [ui.emailTrait(say)], [EMAIL_TRAIT]],
  [
    'the address as entered before',
    (say) => [ui.emailTrait(say, { value: EMAIL })],
    [EMAIL_TRAIT.replace('traits.email', `traits.email=${EMAIL}`)],
  ],
  [
    'registration by password',
    ui.passwordRegistration,
    [`${PASSWORD} autocomplete=new-password required`, `${BY_PASSWORD} 1040001`],
  ],
  ['registration by code', ui.codeRegistration, ['code submit method=code 1040006']],
  [
    'registration by code, sent',
    (say) => ui.codeRegistrationSent(say, { email: EMAIL }),
    [
      `default hidden traits.email=${EMAIL} 1070002 required`,
      codeField(1070012),
      ...CODE_SENT,
      'code submit resend=code 1070008',
    ],
  ],
  [
    'registration by provider',
    (say) => ui.socialButtons(say, 'registration', ['apple']),
    ['oidc submit provider=apple 1040002'],
  ],
  [
    'recovery',
    (say) => ui.recoveryStart(say, { email: EMAIL }),
    [`code email email=${EMAIL} ${EMAIL_FIELD.slice(6)}`, 'code submit method=code 1070009'],
  ],
  [
    'recovery, sent',
    (say) => ui.recoveryCodeSent(say, { email: EMAIL }),
    [RECOVERY_CODE, ...CODE_SENT, `code submit email=${EMAIL} 1070008`],
  ],
  [
    'recovery, sent, with the code of the link',
    (say) => ui.recoveryCodeSent(say, { email: EMAIL, code: '000042' }),
    [
      RECOVERY_CODE.replace('code 1', 'code=000042 1'),
      ...CODE_SENT,
      `code submit email=${EMAIL} 1070008`,
    ],
  ],
  [
    'verification',
    (say) => ui.verificationStart(say),
    [`code email ${EMAIL_FIELD}`, 'code submit method=code 1070009'],
  ],
  [
    'verification, sent',
    (say) => ui.verificationCodeSent(say, { email: EMAIL, code: '000042' }),
    [
      codeField(1070011).replace('code 1', 'code=000042 1'),
      ...CODE_SENT,
      `code submit email=${EMAIL} 1070008`,
    ],
  ],
  [
    'verification, done',
    (say) => ui.verificationDone(say, { continueTo: 'https://app.example.com/' }),
    ['code a continue 1070009'],
  ],
  ['verification, done, with nowhere to go', (say) => ui.verificationDone(say), []],
  [
    'settings: profile',
    (say) => ui.profileSettings(say, { email: EMAIL }),
    [
      `profile email traits.email=${EMAIL} 1070002 autocomplete=email required`,
      'profile submit method=profile 1070003',
    ],
  ],
  [
    'settings: password',
    ui.passwordSettings,
    [`${PASSWORD} autocomplete=new-password required`, `${BY_PASSWORD} 1070003`],
  ],
  [
    'settings: providers',
    (say) => ui.socialSettings(say, { unlinked: ['github', 'apple'], removable: ['slack'] }),
    [
      'oidc submit link=github 1050002',
      'oidc submit link=apple 1050002',
      'oidc submit unlink=slack 1050003',
    ],
  ],
  [
    'settings: no authenticator',
    (say) => ui.totpSetup(say, { qr: 'data:image/png;base64,', secret: 'JBSWY3DP' }),
    [
      'totp img totp_qr 1050005',
      'totp text totp_secret_key 1050017',
      `totp text totp_code 1070006 ${TOTP}`,
      'totp submit method=totp 1070003',
    ],
  ],
  ['settings: an authenticator', ui.totpSet, ['totp submit totp_unlink=true 1050004 required']],
  [
    'settings: no recovery codes',
    ui.lookupNone,
    ['lookup_secret submit lookup_secret_regenerate=true 1050008'],
  ],
  [
    'settings: recovery codes',
    ui.lookupSet,
    [
      'lookup_secret submit lookup_secret_regenerate=true 1050008',
      'lookup_secret submit lookup_secret_disable=true 1050016',
    ],
  ],
  [
    'settings: recovery codes, shown',
    (say) => ui.lookupShown(say, { codes: ['abcd-1234'] }),
    [
      'lookup_secret text lookup_secret_codes 1050010',
      'lookup_secret submit lookup_secret_confirm=true 1050011',
    ],
  ],
]

describe.each(TABLE)('%s', (_, nodesIn, rows) => {
  const nodes = nodesIn(say)

  test('has these nodes in this order, in German, too', () => {
    const inGerman = nodesIn(ui.createSay('de'))
    expect(nodes.map(written)).toEqual(rows)
    expect(inGerman.map(written)).toEqual(rows)
    for (const [index, { meta }] of inGerman.entries())
      if (meta.label.id !== 0) expect(meta.label.text).not.toBe(nodes[index]?.meta.label.text)
  })

  test('has nodes as the API document and its clients expect them', () => {
    for (const node of nodes) {
      expect([...Value.Errors(Node, node)]).toEqual([])
      expect(node.attributes.node_type).toBe(node.type)
      expect(node.attributes.value).toBeString()
      expect(Object.values(node.attributes)).not.toContain(undefined)
      expect(node.messages).toEqual([])
      expect(node.meta.label.text !== '').toBe(node.meta.label.id !== 0)
    }
  })
})

test('An input is written out like this', () => {
  expect(ui.identifierNode(say)).toStrictEqual({
    type: 'input',
    group: 'default',
    attributes: {
      name: 'identifier',
      type: 'text',
      value: '',
      required: true,
      autocomplete: 'username',
      disabled: false,
      node_type: 'input',
    },
    messages: [],
    meta: {
      label: {
        id: 1070002,
        text: 'Email address',
        type: 'info',
        context: { title: 'Email address', name: 'traits.email' },
      },
    },
  })
})

test('The setup of an authenticator has a picture and a text', () => {
  const [qr, secret] = ['data:image/png;base64,iVBORw0KGgo=', 'JBSWY3DPEHPK3PXP']
  const [picture, key] = ui.totpSetup(say, { qr, secret })
  expect(picture?.attributes).toStrictEqual({
    id: 'totp_qr',
    name: 'totp_qr',
    type: 'img',
    value: qr,
    src: qr,
    width: 256,
    height: 256,
    node_type: 'img',
  })
  expect(key?.attributes).toStrictEqual({
    id: 'totp_secret_key',
    name: 'totp_secret_key',
    type: 'text',
    value: secret,
    text: { id: 1050006, text: secret, type: 'info', context: { secret } },
    node_type: 'text',
  })
})

test('Recovery codes are in the text and, one by one, in its context', () => {
  const codes = Array.from({ length: 50 }, (_, index) => `abcd-efgh-${index}`)
  const [node] = ui.lookupShown(say, { codes })
  const text = codes.join(', ')
  const secrets = codes.map((secret) => say(1050009, { secret }))
  expect(node?.attributes).toStrictEqual({
    id: 'lookup_secret_codes',
    name: 'lookup_secret_codes',
    type: 'text',
    value: text,
    text: { id: 1050015, text, type: 'info', context: { secrets } },
    node_type: 'text',
  })
})

test('The way on after a verification is a link', () => {
  const continueTo = 'https://app.example.com/in?a=b'
  const [link] = ui.verificationDone(say, { continueTo })
  expect(link?.attributes).toStrictEqual({
    id: 'continue',
    name: 'continue',
    type: 'a',
    value: continueTo,
    href: continueTo,
    title: { id: 1070009, text: 'Continue', type: 'info' },
    node_type: 'a',
  })
})

test('The label of a provider has its name and its identifier', () => {
  const [button] = ui.socialButtons(say, 'registration', ['github'])
  expect(button?.meta.label).toEqual({
    id: 1040002,
    type: 'info',
    text: 'Sign up with GitHub',
    context: { provider: 'GitHub', provider_id: 'github' },
  })
})

describe('A message', () => {
  const FORM = [ui.emailTrait(say, { value: 'anna' }), ...ui.passwordRegistration(say)]

  test('is added to the field of that name, after others, in a copy', () => {
    const before = structuredClone(FORM)
    const once = ui.withMessage(FORM, 'password', say(4000031)) ?? []
    const twice = ui.withMessage(once, 'password', say(4000032, { min_length: 8 }))
    expect(twice?.map(({ messages }) => messages.map(({ id }) => id))).toEqual([
      [],
      [4000031, 4000032],
      [],
    ])
    expect(twice?.map(({ attributes }) => attributes)).toEqual(FORM.map((node) => node.attributes))
    expect(FORM).toEqual(before)
  })

  test.each([
    ['a field that the form lacks', FORM, 'code'],
    ['a field without a name', FORM, ''],
    ['the name of something inherited', FORM, 'constructor'],
    ['a form without nodes', [], 'password'],
    ['a link', ui.verificationDone(say, { continueTo: 'https://a.example/' }), 'continue'],
    ['a hidden field', ui.codeLoginSent(say, { identifier: EMAIL }), 'identifier'],
    ['a resend button', ui.recoveryCodeSent(say, { email: EMAIL }), 'email'],
    ['one of many buttons', ui.socialButtons(say, 'login', ['github', 'google']), 'provider'],
  ])('has no place at %s', (_, nodes, field) => {
    expect(ui.withMessage(nodes, field, say(4000002, { property: field }))).toBeUndefined()
  })
})
