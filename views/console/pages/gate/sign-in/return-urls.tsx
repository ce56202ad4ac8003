import { Button } from '../../../form/button.tsx'
import { Form } from '../../../form/form.tsx'
import { Textarea } from '../../../form/textarea.tsx'
import { errorAt } from '../../../form/values.ts'
import { Section } from '../../../section.tsx'
import { url } from '../../../url.ts'
import { SIGN_IN } from './badges.tsx'
import type { SignInView } from './sign-in-view.ts'

/** Allowed return URLs after sign-in. */
export const ReturnUrls = ({ base, returnUrls, mayChange, input, errors }: SignInView) => (
  <Section
    id="return-urls"
    title="Return URLs"
    note="Users can be sent back to these URLs and to paths below them. If empty, any URL is allowed."
  >
    {mayChange ? (
      <Form
        action={`${url(base, `${SIGN_IN}/return-urls`)}#return-urls`}
        errors={errors}
        buttons={<Button>Save return URLs</Button>}
      >
        <Textarea
          name="urls"
          label="One URL per line"
          isMono
          rows={Math.min(12, Math.max(4, returnUrls.length + 1))}
          value={input ?? returnUrls.join('\n')}
          error={errorAt(errors, 'urls')}
          placeholder="https://example.com/welcome"
        />
      </Form>
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
