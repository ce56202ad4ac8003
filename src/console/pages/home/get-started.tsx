import type { ComponentChildren } from 'preact'
import { PAGES, type PageKey } from '../../../../views/layout/navigation.ts'
import { CurlBlock } from '../../../../views/ui/code.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { usePage } from '../../page.tsx'
import { firstMessage } from '../webhooks/messages.tsx'

/** First steps for a new tenant, in the console and on the command line. */
export function GetStarted({ hasKey }: { hasKey: boolean }) {
  const { href, may, baseUrl } = usePage()
  const apiUrl = baseUrl()
  return (
    <Section id="begin" title="Get started" note="In any order.">
      <ol class="getstarted">
        {!hasKey && (
          <Step title="Create an API key" text="Your apps authenticate with API keys.">
            {may('keys') ? (
              <LinkButton weight="primary" href={href('/first-key')} isSmall>
                Create API key
              </LinkButton>
            ) : (
              <p class="hint">Ask an owner of the tenant to create one.</p>
            )}
          </Step>
        )}
        <Step
          title="Create a job"
          text="Sends an HTTP request on a schedule (UTC) and retries failures."
        >
          {may('change') && <StepLink path="/jobs/new" text="Create job" />}
          <CurlBlock title="Terminal" {...firstJob(apiUrl)} />
        </Step>
        <Step
          title="Send webhooks"
          text="Each message is signed, delivered to every subscribed endpoint, and retried on failure."
        >
          {may('change') && <StepLink path="/endpoints/new" text="Create endpoint" />}
          <CurlBlock title="Terminal" {...firstMessage(apiUrl)} />
        </Step>
        <Step
          title="Sign in users"
          text="With a password, an email code, 11 social login providers or a messenger bot."
        >
          <div class="actions">
            <PageLink page="signIn" text="Sign-in methods" />
            <PageLink page="bots" text="Bot" />
          </div>
        </Step>
        <Step title="Invite your team" text="As owners, members or viewers.">
          <PageLink page="team" text="Team" />
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

const StepLink = ({ path, text }: { path: string; text: string }) => (
  <LinkButton href={usePage().href(path)} isSmall>
    {text}
  </LinkButton>
)

const PageLink = ({ page, text }: { page: PageKey; text: string }) => (
  <StepLink path={PAGES[page].path} text={text} />
)

/** Request that creates a job. */
const firstJob = (apiUrl: string) => ({
  url: `${apiUrl}/v1/clockwork/jobs`,
  headers: { Authorization: 'Bearer $CLOCKWORK_KEY', 'Content-Type': 'application/json' },
  body: { name: 'Hello', schedule: '*/15 * * * *', url: 'https://example.com', method: 'GET' },
})
