import type { ComponentChildren } from 'preact'
import { CurlBlock } from '../../curl-block.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PAGES, type PageKey } from '../../frame/navigation.ts'
import { Section } from '../../section.tsx'
import { url } from '../../url.ts'
import { firstMessage } from '../relay/first-message.ts'

/** Where nothing has happened yet: what to do first, by hand or by the tenant's own programs. */
export const Begin = (page: {
  base: string
  apiUrl: string
  hasKey: boolean
  mayMakeKeys: boolean
  mayChange: boolean
}) => {
  const { base, apiUrl, hasKey, mayMakeKeys, mayChange } = page
  return (
    <Section id="begin" title="Begin" note="Any of these, in any order.">
      <ol class="begin">
        {!hasKey && (
          <Step title="Take a key" text="Programs get in with keys.">
            {mayMakeKeys ? (
              <LinkButton weight="primary" href={url(base, '/console/first-key')} isSmall>
                Take the first key
              </LinkButton>
            ) : (
              <p class="hint">An owner of the tenant makes it.</p>
            )}
          </Step>
        )}
        <Step title="Call a URL by the clock" text="A job calls it on a schedule, and tries again.">
          {mayChange && <Go base={base} path="/console/jobs/new" text="New job" />}
          <CurlBlock title="From a terminal" {...firstJob(apiUrl)} />
        </Step>
        <Step
          title="Send an event"
          text="Every endpoint that listens gets it, signed, and again until it has it."
        >
          {mayChange && <Go base={base} path="/console/endpoints/new" text="New endpoint" />}
          <CurlBlock title="From a terminal" {...firstMessage(apiUrl)} />
        </Step>
        <Step title="Sign people in" text="By password, by code, by eleven providers, or by a bot.">
          <div class="actions">
            <To base={base} page="signIn" text="Ways to sign in" />
            <To base={base} page="bots" text="Bots" />
          </div>
        </Step>
        <Step title="Bring a colleague" text="As an owner, a member, or somebody who only looks.">
          <To base={base} page="team" text="Team" />
        </Step>
      </ol>
    </Section>
  )
}

const Step = (step: { title: string; text: string; children: ComponentChildren }) => (
  <li class="card">
    <h3>{step.title}</h3>
    <p class="hint">{step.text}</p>
    {step.children}
  </li>
)

const Go = ({ base, path, text }: { base: string; path: string; text: string }) => (
  <LinkButton href={url(base, path)} isSmall>
    {text}
  </LinkButton>
)

const To = ({ base, page, text }: { base: string; page: PageKey; text: string }) => (
  <Go base={base} path={PAGES[page].path} text={text} />
)

/** A command that makes a job. */
const firstJob = (apiUrl: string) => ({
  url: `${apiUrl}/v1/clockwork/jobs`,
  headers: { Authorization: 'Bearer $CLOCKWORK_KEY', 'Content-Type': 'application/json' },
  body: { name: 'Hello', schedule: '*/15 * * * *', url: 'https://example.com', method: 'GET' },
})
