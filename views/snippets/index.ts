import jobs from './jobs.ts.txt' with { type: 'text' }
import messengerLogin from './messenger-login.ts.txt' with { type: 'text' }
import users from './users.ts.txt' with { type: 'text' }
import webhooks from './webhooks.ts.txt' with { type: 'text' }

const SNIPPETS = { users, jobs, webhooks, 'messenger-login': messengerLogin }

/** TypeScript that calls the API at a base URL. */
export const typescriptFor = (name: keyof typeof SNIPPETS, apiUrl: string): string =>
  SNIPPETS[name].replaceAll('{API}', apiUrl).trimEnd()
