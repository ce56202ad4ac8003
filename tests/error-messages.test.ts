import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')

const files = [...new Glob('{src,views}/**/*.{ts,tsx}').scanSync(ROOT)].filter(
  (file) => !file.endsWith('.d.ts'),
)
const sources = await Promise.all(
  files.map(async (file) => ({ file, text: await Bun.file(join(ROOT, file)).text() })),
)

/** Reading what a message says, by one of its methods or by a pattern. */
const PARSED =
  /\b(?:message|problem)\??\.(?:startsWith|endsWith|includes|indexOf|lastIndexOf|split|match|matchAll|search|replace)\(|\.(?:exec|test|matchAll?)\((?:[^()\n]*[^\w'"`])?(?:message|problem)\b/g

/** Where the text is all that a third party gives. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  'src/cli/run.ts': 'parseArgs of Node.js',
  'src/cli/sentences.ts': 'errors of the system',
  'src/config/toml-file.ts': 'the TOML parser of Bun',
  'src/engines/passepartout/telegram/client.ts': 'the Bot API',
  'src/http/body.ts': 'JSON.parse',
}

/** `invalid('url: …')`: the field belongs into the options. */
const FIELD_IN_TEXT =
  /\b(?:invalid|conflict|notFound|forbidden|unauthenticated|unavailable|rateLimited)\(\s*['"`][A-Za-z][\w.-]*: |new AppError\(\s*'\w+',\s*['"`][A-Za-z][\w.-]*: /g

const found = (pattern: RegExp) =>
  sources.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map(([match]) => ({ file, match: match.trim() })),
  )

test('the patterns find what they are for', () => {
  for (const parsed of [
    "message.startsWith('url')",
    "error.message.split(': ')",
    "error.message.replace(/^body: /, '')",
    '/^return_urls/.exec(error.message)',
    'PLACED.test(message)',
    'LINE.exec(problem)',
  ])
    expect(parsed.match(PARSED), parsed).not.toBeNull()
  for (const plain of ['brief(error.message)', 'new Error(message)', "kind.startsWith('message')"])
    expect(plain.match(PARSED), plain).toBeNull()
  expect("invalid('url: must be one')".match(FIELD_IN_TEXT)).not.toBeNull()
  expect("invalid(\n  'traits.email: is taken',".match(FIELD_IN_TEXT)).not.toBeNull()
  expect("invalid('must be one', { field: 'url' })".match(FIELD_IN_TEXT)).toBeNull()
  expect(files.length).toBeGreaterThan(50)
})

test('no message of an error is parsed: field, rule and code say what it is about', () => {
  const parsed = found(PARSED)

  expect(parsed.filter(({ file }) => !Object.hasOwn(OF_OTHERS, file))).toEqual([])
  expect(Object.keys(OF_OTHERS).filter((file) => !parsed.some((one) => one.file === file))).toEqual(
    [],
  )
})

test('no message begins with its field: the options name it', () => {
  expect(found(FIELD_IN_TEXT)).toEqual([])
})
