import { Button } from '../../../../views/ui/form/button.tsx'
import { rawText } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { MAX_RETURN_URLS } from '../../../engines/gate/limits.ts'
import { AppError, invalid } from '../../../platform/errors.ts'
import { type PageContext, usePage } from '../../page.tsx'
import type { SignInView } from './sign-in-view.ts'

/** Allowed return URLs after sign-in. */
export const ReturnUrls = ({ returnUrls }: SignInView) => (
  <Section
    id="return-urls"
    title="Return URLs"
    note="Users can be sent back to these URLs and to paths below them. If empty, any URL is allowed."
  >
    {usePage().may('change') ? (
      <PageForm
        action="return-urls"
        anchor="return-urls"
        buttons={<Button>Save return URLs</Button>}
      >
        <Textarea
          name="urls"
          label="One URL per line"
          isMono
          rows={Math.min(12, Math.max(4, returnUrls.length + 1))}
          value={returnUrls.join('\n')}
          placeholder="https://example.com/welcome"
        />
      </PageForm>
    ) : returnUrls.length === 0 ? (
      <p class="hint">No return URLs</p>
    ) : (
      <ul>
        {returnUrls.map((one) => (
          <li>
            <code>{one}</code>
          </li>
        ))}
      </ul>
    )}
  </Section>
)

/** Saves the return URLs of a form, one per line. Throws `invalid` with the line. */
export async function saveReturnUrls({ gate, caller, fields }: PageContext): Promise<void> {
  const text = rawText(fields, 'urls') ?? ''
  const lines = text.split('\n').map((line) => line.trim())
  const urls = lines.filter((line) => line !== '')
  if (urls.length > MAX_RETURN_URLS)
    throw invalid(`must have at most ${MAX_RETURN_URLS} URLs`, { field: 'urls', rule: 'too_many' })
  try {
    await gate.signInMethods.setReturnUrls(caller('gate', 'live'), urls)
  } catch (error) {
    throw error instanceof AppError ? withLineNumber(error, lines) : error
  }
}

/** The API counts addresses from 0; people count lines, including empty ones. */
function withLineNumber(
  { kind, field, rule, problem }: AppError,
  lines: readonly string[],
): AppError {
  const index = Number(field?.split('.')[1])
  const lineNumbers = lines.flatMap((line, index) => (line === '' ? [] : [index + 1]))
  const line = lineNumbers[index]
  const words = line === undefined ? problem : `line ${line} ${problem}`
  return new AppError(kind, words, { field: 'urls', rule: rule ?? 'format' })
}
